/** Kernels that train: AdamW and accumulation in place, the sum of squares and the factor that clip. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { type AdamWAttrs, type ClippingFactorAttrs, LEAVE_UNCHANGED, MOST_SQUARES } from '../../ops/adamw.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program } from '../program.ts';
import { joined, joining, sumSquares } from './reduce.ts';

const LANES = 256;

const adamW = program({
  name: 'AdamW',
  parameters: [
    'n',
    ...['keep', 'beta1', 'rest1', 'beta2', 'rest2', 'rate', 'root', 'eps'].map((name) => `${name}:f32`),
  ],
  buffers: { param: 'rw vec4<f32>', m: 'rw vec4<f32>', v: 'rw vec4<f32>', grad: 'vec4<f32>', gradScale: 'f32' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.n || gradScale[0] == ${LEAVE_UNCHANGED}.0) { return; }
  let g = grad[i] * gradScale[0];
  let first = p.beta1 * m[i] + p.rest1 * g;
  let second = p.beta2 * v[i] + p.rest2 * g * g;
  m[i] = first;
  v[i] = second;
  param[i] = param[i] * p.keep - p.rate * first / (sqrt(second) / p.root + p.eps);`,
});

const addInPlace = program({
  name: 'AddInPlace',
  parameters: ['n', 'scale:f32'],
  buffers: { sum: 'rw vec4<f32>', x: 'vec4<f32>' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i < p.n) { sum[i] += p.scale * x[i]; }`,
});

/** What is added up stays below infinity: WGSL's maths may take it that there is none. */
const BEYOND = 1.1 * MOST_SQUARES;

const clippingFactor = program({
  name: 'ClippingFactor',
  parameters: ['n', 'maxNorm:f32'],
  buffers: { squares: 'i32', out: 'rw f32' },
  workgroup: LANES,
  declarations: `fn join(a: f32, b: f32) -> f32 { return min(a + b, ${BEYOND}); }${joining('f32', LANES)}`,
  main: `  var sum = 0.0;
  for (var i = lane; i < p.n; i += ${LANES}u) {
    let finite = ((squares[i] >> 23u) & 255) != 255;
    sum = join(sum, select(${BEYOND}, min(bitcast<f32>(squares[i]), ${BEYOND}), finite));
  }
${joined('total', 'sum', LANES)}
  if (lane > 0u) { return; }
  let clipped = min(1.0, p.maxNorm / (sqrt(total) + 1e-6));
  out[0] = select(select(clipped, 1.0, p.maxNorm == 0.0), ${LEAVE_UNCHANGED}.0, total > ${MOST_SQUARES});`,
});

export function registerAdamW(register: Register): void {
  register<AdamWAttrs>('AdamW', ({ backend, input, attrs }) => {
    const { lr, beta1, beta2, eps, weightDecay, step } = attrs;
    const [param, grad] = [input('param'), input('grad')];
    sameSize([param, input('m'), input('v'), grad]);
    const changed = [param, input('m'), input('v')].map((tensor) => backend.bufferToChange(tensor));
    const n = Math.ceil(sizeOf(param) / 4);
    const parameters = [n, 1 - lr * weightDecay, beta1, 1 - beta1, beta2, 1 - beta2, lr / (1 - beta1 ** step)];
    parameters.push(Math.sqrt(1 - beta2 ** step), eps);
    const read = [grad, input('gradScale')].map((tensor) => backend.buffer(tensor));
    backend.gpu.run(adamW, [...changed, ...read], parameters, groupsFor(n, LANES));
    return nothing(backend);
  });
  register<{ scale: number }>('AddInPlace', ({ backend, input, attrs }) => {
    const [target, x] = [input('target'), input('x')];
    sameSize([target, x]);
    const n = Math.ceil(sizeOf(target) / 4);
    const buffers = [backend.bufferToChange(target), backend.buffer(x)];
    backend.gpu.run(addInPlace, buffers, [n, attrs.scale], groupsFor(n, LANES));
    return nothing(backend);
  });
  register<ClippingFactorAttrs>('ClippingFactor', ({ backend, input, attrs }) => {
    const squares = input('squares');
    const out = backend.output([]);
    const buffers = [backend.buffer(squares), backend.buffer(out)];
    backend.gpu.run(clippingFactor, buffers, [sizeOf(squares), attrs.maxNorm], 1);
    return out;
  });
  register('SumSquares', ({ backend, input }) => sumSquares(backend, input('x')));
}

function sameSize(tensors: readonly TensorInfo[]): void {
  if (tensors.every((tensor) => sizeOf(tensor) === sizeOf(tensors[0] as TensorInfo) && tensor.dtype === 'float32'))
    return;
  const got = tensors.map(({ dtype, shape }) => `${dtype} [${shape}]`).join(', ');
  throw new Error(`Expected float32 tensors of one size, got ${got}`);
}

/** tfjs wants an output of every kernel; a number that stays on the host costs no GPU work. */
function nothing(backend: Parameters<Parameters<Register>[1]>[0]['backend']): TensorInfo {
  return { dataId: backend.write(Float32Array.of(0), [], 'float32'), shape: [], dtype: 'float32' };
}
