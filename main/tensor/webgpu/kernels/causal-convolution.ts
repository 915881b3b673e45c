/** A causal convolution over packed sequences, channel by channel, and its gradient. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { groupsFor, type KernelCall, type Register, sizeOf } from '../kernel.ts';
import { program } from '../program.ts';
import { expDownOf } from './finite.ts';
import { sumColumns } from './reduce.ts';
import { scatterPlan } from './rows.ts';

// N packed tokens, D channels, T taps.

const LANES = 128;
/** Tokens whose parts of the weights' gradient an invocation adds up. */
const SLICE = 64;

/** WGSL: \`sum\` of a channel of a token, before SiLU; rows of no token are −1, and those of states come after the tokens'. */
const sumOfTaps = (before: boolean): string => `
  let token = i / p.width;
  let channel = i % p.width;
  let weights = channel * p.taps;
  var sum = bias[channel] + weight[weights + p.taps - 1u] * x[i];
  for (var tap = 0u; tap + 1u < p.taps; tap++) {
    let row = rows[token * (p.taps - 1u) + tap];
    if (row >= 0${before ? ' && u32(row) < p.tokens' : ''}) { sum += weight[weights + tap] * x[u32(row) * p.width + channel]; }
${before ? '    if (row >= i32(p.tokens)) { sum += weight[weights + tap] * before[(u32(row) - p.tokens) * p.width + channel]; }' : ''}
  }`;

const parameters = ['tokens', 'width', 'taps', 'silu'];

const forward = program({
  name: 'CausalConvolution',
  parameters,
  buffers: { x: 'f32', weight: 'f32', bias: 'f32', rows: 'i32', before: 'f32', out: 'rw f32' },
  workgroup: LANES,
  declarations: expDownOf('f32'),
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.tokens * p.width) { return; }
${sumOfTaps(true)}
  if (p.silu == 1u) { sum /= 1.0 + expDown(sum); }
  out[i] = sum;`,
});

/** The gradient of each sum. */
const ofSums = program({
  name: 'CausalConvolution sums',
  parameters,
  buffers: { dy: 'f32', x: 'f32', weight: 'f32', bias: 'f32', rows: 'i32', out: 'rw f32' },
  workgroup: LANES,
  declarations: expDownOf('f32'),
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.tokens * p.width) { return; }
${sumOfTaps(false)}
  let open = select(1.0, 1.0 / (1.0 + expDown(sum)), p.silu == 1u);
  out[i] = dy[i] * select(1.0, open * (1.0 + sum * (1.0 - open)), p.silu == 1u);`,
});

/** That of x: plan as \`scatterPlan\` makes it of rows, for every token. */
const ofInputs = program({
  name: 'CausalConvolution inputs',
  parameters: ['tokens', 'width', 'taps'],
  buffers: { dSums: 'f32', weight: 'f32', plan: 'i32', out: 'rw f32' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.tokens * p.width) { return; }
  let token = i / p.width;
  let channel = i % p.width;
  let weights = channel * p.taps;
  var sum = weight[weights + p.taps - 1u] * dSums[i];
  let first = u32(plan[2u * token]);
  for (var n = first; n < first + u32(plan[2u * token + 1u]); n++) {
    let reader = u32(plan[2u * p.tokens + n]);
    sum += weight[weights + reader % (p.taps - 1u)] * dSums[reader / (p.taps - 1u) * p.width + channel];
  }
  out[i] = sum;`,
});

/** Parts of those of the weights and of the bias, [slices, D·(T + 1)]; an invocation a channel's tap in some tokens. */
const ofWeights = program({
  name: 'CausalConvolution weights',
  parameters: ['tokens', 'width', 'taps'],
  buffers: { dSums: 'f32', x: 'f32', rows: 'i32', out: 'rw f32' },
  workgroup: LANES,
  main: `  let i = wg.x * ${LANES}u + lane;
  if (i >= p.width * (p.taps + 1u)) { return; }
  // Lanes beside each other read channels beside each other.
  let channel = i % p.width;
  let tap = i / p.width;
  var sum = 0.0;
  let end = min(p.tokens, (wg.y + 1u) * ${SLICE}u);
  for (var token = wg.y * ${SLICE}u; token < end; token++) {
    let d = dSums[token * p.width + channel];
    var row = i32(token);
    if (tap + 1u < p.taps) { row = rows[token * (p.taps - 1u) + tap]; }
    if (tap == p.taps) { sum += d; } else if (row >= 0) { sum += d * x[u32(row) * p.width + channel]; }
  }
  let bias = p.width * p.taps;
  out[wg.y * (bias + p.width) + select(channel * p.taps + tap, bias + channel, tap == p.taps)] = sum;`,
});

interface Attrs {
  readonly silu: boolean;
}

function sizesOf({ input }: KernelCall<Attrs>): {
  readonly tokens: number;
  readonly width: number;
  readonly taps: number;
} {
  const [tokens = 0, width = 0] = input('x').shape;
  return { tokens, width, taps: input('weight').shape[2] ?? 0 };
}

function convolve(call: KernelCall<Attrs>): TensorInfo {
  const { backend, input, has, attrs } = call;
  const { tokens, width, taps } = sizesOf(call);
  const x = input('x');
  const out = backend.output(x.shape);
  const read = [x, input('weight'), input('bias'), input('rows'), has('before') ? input('before') : x];
  const buffers = [...read, out].map((tensor) => backend.buffer(tensor));
  backend.gpu.run(forward, buffers, [tokens, width, taps, attrs.silu ? 1 : 0], groupsFor(sizeOf(x), LANES));
  return out;
}

/** Which rows of \`rows\` read each token: (first, count) of every token, then their places. */
function readersOf(rows: ArrayLike<number>, tokens: number): Int32Array {
  const { targets, plan } = scatterPlan(rows);
  const heads = new Int32Array(2 * tokens);
  for (let n = 0; n < targets; n++) heads.set(plan.subarray(3 * n + 1, 3 * n + 3), 2 * (plan[3 * n] ?? 0));
  return Int32Array.from([...heads, ...plan.subarray(3 * targets)]);
}

function gradient(call: KernelCall<Attrs>): TensorInfo[] {
  const { backend, input, attrs } = call;
  const { tokens, width, taps } = sizesOf(call);
  const [dy, x, weight, bias, rows] = ['dy', 'x', 'weight', 'bias', 'rows'].map(input) as [
    ...[TensorInfo, TensorInfo, TensorInfo, TensorInfo, TensorInfo],
  ];
  const buffer = (tensor: TensorInfo) => backend.buffer(tensor);
  const [dSums, dX] = [backend.output(x.shape), backend.output(x.shape)];
  const groups = groupsFor(tokens * width, LANES);
  const sizes = [tokens, width, taps];
  backend.gpu.run(ofSums, [dy, x, weight, bias, rows, dSums].map(buffer), [...sizes, attrs.silu ? 1 : 0], groups);
  const plan = backend.integers(readersOf(backend.values(rows), tokens));
  backend.gpu.run(ofInputs, [dSums, weight, plan, dX].map(buffer), sizes, groups);
  const [slices, numbers] = [Math.ceil(tokens / SLICE), width * (taps + 1)];
  const parts = backend.output([slices, numbers]);
  const spread = [groupsFor(numbers, LANES), slices, 1] as const;
  backend.gpu.run(ofWeights, [dSums, x, rows, parts].map(buffer), sizes, spread);
  const all = sumColumns(backend, parts);
  const [dWeight, dBias] = [backend.output(weight.shape), backend.output(bias.shape)];
  backend.gpu.copy(buffer(all), 0, buffer(dWeight), 0, width * taps);
  backend.gpu.copy(buffer(all), width * taps, buffer(dBias), 0, width);
  backend.release(dSums, plan, parts, all);
  return [dX, dWeight, dBias];
}

export function registerConvolution(register: Register): void {
  register<Attrs>('CausalConvolution', convolve);
  register<Attrs>('CausalConvolutionGrad', gradient);
}
