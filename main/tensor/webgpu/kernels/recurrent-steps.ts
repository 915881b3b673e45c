/** Decoding steps of layers that recur: one token of a causal convolution, of the gated delta rule, of a state space. */
import type { GatedDeltaShape } from '../../ops/gated-delta.ts';
import type { StateSpaceShape } from '../../ops/state-space.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program } from '../program.ts';
import { expDownOf } from './finite.ts';
import { joined, joining } from './reduce.ts';

// B rows in flight, D channels, T taps, K and V widths of a head's keys and values.

const LANES = 256;
/** Lanes that share a head. */
const HEAD_LANES = 128;
/** Widest head, as ops/gated-delta.ts has it. */
const WIDEST = 256;

/** x [B, D], weight [D, 1, T], bias [D], states [B, (T - 1)·D], which move on → out [B, D]; an invocation a channel of a row. */
const convolutionStep = program({
  name: 'CausalConvolutionStep',
  parameters: ['rows', 'width', 'taps', 'silu'],
  buffers: { x: 'f32', weight: 'f32', bias: 'f32', states: 'rw f32', out: 'rw f32' },
  workgroup: LANES,
  declarations: expDownOf('f32'),
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.rows * p.width) { return; }
  let row = i / p.width;
  let channel = i % p.width;
  var at = row * (p.taps - 1u) * p.width + channel;
  var sum = bias[channel] + weight[channel * p.taps + p.taps - 1u] * x[i];
  for (var tap = 0u; tap + 1u < p.taps; tap++) {
    sum += weight[channel * p.taps + tap] * states[at];
    if (tap + 2u < p.taps) { states[at] = states[at + p.width]; } else { states[at] = x[i]; }
    at += p.width;
  }
  if (p.silu == 1u) { sum /= 1.0 + expDown(sum); }
  out[i] = sum;`,
});

/**
 * mixed [B, 2·keyHeads·K + valueHeads·V], a and b [B, valueHeads], timeBias and decay [valueHeads], states
 * [B, valueHeads·K·V], which change → out [B, valueHeads·V]; a workgroup a value head of a row, an invocation a column of
 * its state: u = β (v − e^g kᵀS), S ← e^g S + k u, o = qᵀS.
 */
const deltaStep = program({
  name: 'GatedDeltaStep',
  parameters: ['tiles', 'keyHeads', 'valueHeads', 'keyDim', 'valueDim'],
  buffers: {
    mixed: 'f32',
    a: 'f32',
    b: 'f32',
    timeBias: 'f32',
    decay: 'f32',
    states: 'rw f32',
    out: 'rw f32',
  },
  workgroup: HEAD_LANES,
  declarations: `${expDownOf('f32')}
fn join(a: f32, b: f32) -> f32 { return a + b; }
var<workgroup> query: array<f32, ${WIDEST}>;
var<workgroup> key: array<f32, ${WIDEST}>;
${joining('f32', HEAD_LANES)}`,
  main: `  if (group >= p.tiles) { return; }
  let row = group / p.valueHeads;
  let head = group % p.valueHeads;
  let queries = row * (2u * p.keyHeads * p.keyDim + p.valueHeads * p.valueDim) + head / (p.valueHeads / p.keyHeads) * p.keyDim;
  let keys = queries + p.keyHeads * p.keyDim;
  let values = row * (2u * p.keyHeads * p.keyDim + p.valueHeads * p.valueDim) + 2u * p.keyHeads * p.keyDim + head * p.valueDim;
  var ofQuery = 0.0;
  var ofKey = 0.0;
  for (var i = lane; i < p.keyDim; i += ${HEAD_LANES}u) {
    ofQuery += mixed[queries + i] * mixed[queries + i];
    ofKey += mixed[keys + i] * mixed[keys + i];
  }
${joined('querySquares', 'ofQuery', HEAD_LANES)}
  workgroupBarrier();
${joined('keySquares', 'ofKey', HEAD_LANES)}
  let queryFactor = inverseSqrt((querySquares + 1e-6) * f32(p.keyDim));
  let keyFactor = inverseSqrt(keySquares + 1e-6);
  for (var i = lane; i < p.keyDim; i += ${HEAD_LANES}u) {
    query[i] = mixed[queries + i] * queryFactor;
    key[i] = mixed[keys + i] * keyFactor;
  }
  workgroupBarrier();
  let step = a[group] + timeBias[head];
  let kept = expDown(expDown(-decay[head]) * (max(step, 0.0) + log(1.0 + expDown(abs(step)))));
  let strength = 1.0 / (1.0 + expDown(b[group]));
  for (var column = lane; column < p.valueDim; column += ${HEAD_LANES}u) {
    let first = group * p.keyDim * p.valueDim + column;
    var said = 0.0;
    for (var i = 0u; i < p.keyDim; i++) { said += key[i] * states[first + i * p.valueDim]; }
    let written = strength * (mixed[values + column] - kept * said);
    var sum = 0.0;
    for (var i = 0u; i < p.keyDim; i++) {
      let next = kept * states[first + i * p.valueDim] + key[i] * written;
      states[first + i * p.valueDim] = next;
      sum += query[i] * next;
    }
    out[group * p.valueDim + column] = sum;
  }`,
});

/**
 * mixed [B, H·V + 2·G·K] of x, B and C, dt [B, H], timeBias, decay and skip [H], states [B, G·K·(H/G)·V], which change → out
 * [B, H·V]; a workgroup LANES columns of a group's states, an invocation one: S ← e^(δa) S + B (δ x)ᵀ, o = Cᵀ S + D x.
 */
const stateSpaceStep = program({
  name: 'StateSpaceStep',
  parameters: ['rows', 'groups', 'heads', 'stateDim', 'headDim'],
  buffers: {
    mixed: 'f32',
    dt: 'f32',
    timeBias: 'f32',
    decay: 'f32',
    skip: 'f32',
    states: 'rw f32',
    out: 'rw f32',
  },
  workgroup: HEAD_LANES,
  declarations: expDownOf('f32'),
  main: `  let width = p.heads / p.groups * p.headDim;
  let tiles = (width + ${HEAD_LANES - 1}u) / ${HEAD_LANES}u;
  let column = group % tiles * ${HEAD_LANES}u + lane;
  let part = group / tiles;
  if (column >= width || part >= p.rows * p.groups) { return; }
  let row = part / p.groups;
  let inner = p.heads * p.headDim;
  let keyWidth = p.groups * p.stateDim;
  let place = part % p.groups * width + column;
  let head = place / p.headDim;
  let values = row * (inner + 2u * keyWidth);
  let keys = values + inner + part % p.groups * p.stateDim;
  let raw = dt[row * p.heads + head] + timeBias[head];
  let step = max(raw, 0.0) + log(1.0 + expDown(abs(raw)));
  let kept = expDown(expDown(-decay[head]) * step);
  let x = mixed[values + place];
  var sum = skip[head] * x;
  var at = part * p.stateDim * width + column;
  for (var i = 0u; i < p.stateDim; i++) {
    let next = kept * states[at] + mixed[keys + i] * step * x;
    states[at] = next;
    sum += mixed[keys + keyWidth + i] * next;
    at += width;
  }
  out[row * inner + place] = sum;`,
});

export function registerRecurrentSteps(register: Register): void {
  register<{ silu: boolean }>('CausalConvolutionStep', ({ backend, input, attrs }) => {
    const [x, weight] = [input('x'), input('weight')];
    const [rows = 0, width = 0] = x.shape;
    const out = backend.output(x.shape);
    const read = [x, weight, input('bias')].map((tensor) => backend.buffer(tensor));
    const buffers = [...read, backend.bufferToChange(input('states')), backend.buffer(out)];
    const parameters = [rows, width, weight.shape[2] ?? 0, attrs.silu ? 1 : 0];
    backend.gpu.run(convolutionStep, buffers, parameters, groupsFor(sizeOf(x), LANES));
    return out;
  });
  register<GatedDeltaShape>('GatedDeltaStep', ({ backend, input, attrs }) => {
    const { keyHeads, valueHeads, keyDim, valueDim } = attrs;
    const [rows = 0] = input('mixed').shape;
    const out = backend.output([rows, valueHeads * valueDim]);
    const read = ['mixed', 'a', 'b', 'timeBias', 'decay'].map((name) => backend.buffer(input(name)));
    const buffers = [...read, backend.bufferToChange(input('states')), backend.buffer(out)];
    const tiles = rows * valueHeads;
    backend.gpu.run(deltaStep, buffers, [tiles, keyHeads, valueHeads, keyDim, valueDim], tiles);
    return out;
  });
  register<StateSpaceShape>('StateSpaceStep', ({ backend, input, attrs }) => {
    const { groups, heads, stateDim, headDim } = attrs;
    const [rows = 0] = input('mixed').shape;
    const out = backend.output([rows, heads * headDim]);
    const read = ['mixed', 'dt', 'timeBias', 'decay', 'skip'].map((name) => backend.buffer(input(name)));
    const buffers = [...read, backend.bufferToChange(input('states')), backend.buffer(out)];
    const tiles = rows * groups * groupsFor((heads / groups) * headDim, HEAD_LANES);
    backend.gpu.run(stateSpaceStep, buffers, [rows, groups, heads, stateDim, headDim], tiles);
    return out;
  });
}
