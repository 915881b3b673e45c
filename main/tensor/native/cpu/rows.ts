/** Kernels that work row by row. */

import type { RegisterCpu } from './kernel.ts';
import { matrixSize } from './kernel.ts';

export function registerRowKernels(register: RegisterCpu): void {
  register(
    'Add',
    (call) => {
      const [a, b] = [call.input('a'), call.input('b')];
      const out = call.output(a.shape);
      call.run('add', { a, b, out });
      return out;
    },
    // Others broadcast, or aren't float32.
    ({ a, b }) =>
      a?.dtype === 'float32' && b?.dtype === 'float32' && a.shape.join() === b.shape.join() && a.shape.length > 0,
  );
  registerNorm(register);
  register<{ headDim: number; inverse: boolean }>('Rope', (call) => {
    const { headDim, inverse } = call.attrs;
    const x = call.input('x');
    const tables = { positions: call.input('positions'), cos: call.input('cos'), sin: call.input('sin') };
    const out = call.output(x.shape);
    call.run('rope', { x, ...tables, out }, { headDim, inverse });
    return out;
  });
  register('Gelu', (call) => {
    const x = call.input('x');
    const out = call.output(x.shape);
    call.run('gelu', { x, out });
    return out;
  });
  register('SwiGlu', (call) => {
    const [gate, up] = [call.input('gate'), call.input('up')];
    const out = call.output(gate.shape);
    call.run('swiglu', { gate, up, out });
    return out;
  });
  register('SigmoidGate', (call) => {
    const [a, b] = [call.input('gate'), call.input('up')];
    const [, width] = matrixSize('gate', a);
    const out = call.output(a.shape);
    const places = { aLine: width, aFirst: 0, bLine: width, bFirst: 0 };
    call.run('columns', { a, b, out }, { width, ...places, gate: true });
    return out;
  });
  register('SwiGluGrad', (call) => {
    const [dy, gate, up] = [call.input('dy'), call.input('gate'), call.input('up')];
    const [dGate, dUp] = [call.output(gate.shape), call.output(gate.shape)];
    call.run('swigluGrad', { dy, gate, up, dGate, dUp });
    return [dGate, dUp];
  });
  register('GatherRows', (call) => {
    const [x, indices] = [call.weight('x'), call.input('indices')];
    const out = call.output([indices.shape[0] ?? 0, matrixSize('x', x)[1]]);
    call.run('gatherRows', { x, indices, out });
    return out;
  });
  register('Overwrite', (call) => {
    call.run('copy', { from: call.input('x'), to: call.changed('target') });
    // tfjs wants a tensor of every kernel.
    return call.output([0]);
  });
  register<{ rows: number }>('ScatterAddRows', (call) => {
    const [dy, indices] = [call.input('dy'), call.input('indices')];
    const out = call.output([call.attrs.rows, matrixSize('dy', dy)[1]]);
    call.run('scatterAddRows', { dy, indices, out });
    return out;
  });
}

function registerNorm(register: RegisterCpu): void {
  register<{ eps: number }>('LayerNorm', (call) => {
    const x = call.input('x');
    const out = call.output(x.shape);
    call.run('layerNorm', { x, weight: call.input('weight'), bias: call.input('bias'), out }, { eps: call.attrs.eps });
    return out;
  });
  register<{ eps: number }>('RmsNorm', (call) => {
    const x = call.input('x');
    const out = call.output(x.shape);
    call.run('rmsNorm', { x, weight: call.input('weight'), out }, { eps: call.attrs.eps });
    return out;
  });
  register<{ eps: number }>('RmsNormGradX', (call) => {
    const x = call.input('x');
    const dx = call.output(x.shape);
    call.run('rmsNormGradX', { dy: call.input('dy'), x, weight: call.input('weight'), dx }, { eps: call.attrs.eps });
    return dx;
  });
  register<{ eps: number }>('RmsNormGradWeight', (call) => {
    const x = call.input('x');
    const dWeight = call.output([matrixSize('x', x)[1]]);
    call.run('rmsNormGradWeight', { dy: call.input('dy'), x, dWeight }, { eps: call.attrs.eps });
    return dWeight;
  });
}
