/** Kernels that work row by row. */
import { BFLOAT16 } from '../ops.ts';
import { expectShape, matrixSize, sizeOf } from './kernel.ts';
import type { RegisterCpu } from './register.ts';

export function registerRowKernels(register: RegisterCpu): void {
  register(
    'Add',
    (call) => {
      const [a, b] = [call.input('a'), call.input('b')];
      const sum = call.output(a.shape);
      call.run('add', [a, b, sum], [sizeOf(a)]);
      return sum;
    },
    // Others broadcast, or aren't float32.
    ({ a, b }) =>
      a?.dtype === 'float32' && b?.dtype === 'float32' && a.shape.join() === b.shape.join() && a.shape.length > 0,
  );
  registerNorm(register);
  register<{ headDim: number; inverse: boolean }>('Rope', (call) => {
    const { headDim, inverse } = call.attrs;
    const [x, positions, cos, sin] = [call.input('x'), call.input('positions'), call.input('cos'), call.input('sin')];
    const [n, width] = matrixSize('x', x);
    expectShape('positions', positions, [n]);
    for (const table of [cos, sin]) expectShape('a table of angles', table, [table.shape[0] ?? 0, headDim / 2]);
    const out = call.output([n, width]);
    call.run('rope', [x, positions, cos, sin, out], [n, width, headDim, inverse ? -1 : 1]);
    return out;
  });
  register('SwiGlu', (call) => {
    const [gate, up] = [call.input('gate'), call.input('up')];
    expectShape('up', up, gate.shape);
    const out = call.output(gate.shape);
    call.run('swiglu', [gate, up, out], [sizeOf(gate)]);
    return out;
  });
  register('SwiGluGrad', (call) => {
    const [dy, gate, up] = [call.input('dy'), call.input('gate'), call.input('up')];
    for (const other of [dy, up]) expectShape('dy and up', other, gate.shape);
    const outputs = [call.output(gate.shape), call.output(gate.shape)];
    call.run('swigluGrad', [dy, gate, up, ...outputs], [sizeOf(gate)]);
    return outputs;
  });
  register('GatherRows', (call) => {
    const [x, indices] = [call.weight('x'), call.input('indices')];
    const [, width] = matrixSize('x', x);
    const [n = 0] = indices.shape;
    const out = call.output([n, width]);
    call.run('gatherRows', [x, indices, out], [n, width, x.dtype === BFLOAT16 ? 1 : 0]);
    return out;
  });
  register<{ rows: number }>('ScatterAddRows', (call) => {
    const [dy, indices] = [call.input('dy'), call.input('indices')];
    const [n, width] = matrixSize('dy', dy);
    expectShape('indices', indices, [n]);
    const out = call.output([call.attrs.rows, width]);
    call.run('scatterAddRows', [dy, indices, out], [n, width, call.attrs.rows]);
    return out;
  });
}

function registerNorm(register: RegisterCpu): void {
  register<{ eps: number }>('RmsNorm', (call) => {
    const [x, weight] = [call.input('x'), call.input('weight')];
    const [n, width] = matrixSize('x', x);
    expectShape('weight', weight, [width]);
    const out = call.output(x.shape);
    call.run('rmsNorm', [x, weight, out], [n, width, call.attrs.eps]);
    return out;
  });
  register<{ eps: number }>('RmsNormGradX', (call) => {
    const [dy, x, weight] = [call.input('dy'), call.input('x'), call.input('weight')];
    const [n, width] = matrixSize('x', x);
    expectShape('dy', dy, x.shape);
    expectShape('weight', weight, [width]);
    const out = call.output(x.shape);
    call.run('rmsNormGradX', [dy, x, weight, out], [n, width, call.attrs.eps]);
    return out;
  });
  register<{ eps: number }>('RmsNormGradWeight', (call) => {
    const [dy, x] = [call.input('dy'), call.input('x')];
    const [n, width] = matrixSize('x', x);
    expectShape('dy', dy, x.shape);
    const out = call.output([width]);
    call.run('rmsNormGradWeight', [dy, x, out], [n, width, call.attrs.eps]);
    return out;
  });
}
