/**
 * What the gated delta rule and its gradient are made of on a GPU. A head's state S [K, V] goes through a sequence's tokens,
 * S ← e^g S + k uᵀ with u = β x, x = v − e^g kᵀS, o = Sᵀq; its gradient D comes back, D ← e^g (D + q doᵀ − β k duᵀ) with
 * du = (D + q doᵀ)ᵀ k. Columns of S need no others for x, o and du; once those are known, no row needs another for
 * dq = S do and dk = D u − β e^g S du. So a workgroup takes some columns, or some rows, through all tokens of a sequence.
 */
import { type Program, program, variants } from '../program.ts';
import { expDownOf } from './finite.ts';
import { joined, joining } from './reduce.ts';

// N packed tokens, H value heads, K and V widths of a head's keys and values.

/** Columns or rows of a workgroup, and lanes that share each. */
export const LINES = 32;
const PARTS = 4;
const LANES = LINES * PARTS;
/** Tokens whose vectors are read at a time: as many as parts, so that each lane finishes one line of one of them. */
const BLOCK = PARTS;

/** Numbers of a token for each value head: e^g, β, q·k, g, and the derivative of g by a. */
export const GATES = 5;
const HEAD_LANES = 64;

/**
 * mixed [N, width] of queries, keys and values → unit [N, keyHeads, 2, K], queries and keys of length 1 (queries' times
 * K^-0.5), gates [N, H, 5]. A workgroup a key head of a token.
 */
export const prepare = program({
  name: 'GatedDelta gates',
  parameters: ['tiles', 'keyHeads', 'valueHeads', 'keyDim', 'width'],
  buffers: {
    mixed: 'f32',
    a: 'f32',
    b: 'f32',
    timeBias: 'f32',
    decay: 'f32',
    unit: 'rw f32',
    gates: 'rw f32',
  },
  workgroup: HEAD_LANES,
  declarations: `${expDownOf('f32')}
fn join(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> { return a + b; }${joining('vec3<f32>', HEAD_LANES)}`,
  main: `  if (group >= p.tiles) { return; }
  let token = group / p.keyHeads;
  let head = group % p.keyHeads;
  let queries = token * p.width + head * p.keyDim;
  let keys = queries + p.keyHeads * p.keyDim;
  var own = vec3<f32>(0.0);
  for (var i = lane; i < p.keyDim; i += ${HEAD_LANES}u) {
    let q = mixed[queries + i];
    let k = mixed[keys + i];
    own += vec3<f32>(q * q, k * k, q * k);
  }
${joined('sums', 'own', HEAD_LANES)}
  let ofQuery = inverseSqrt((sums.x + 1e-6) * f32(p.keyDim));
  let ofKey = inverseSqrt(sums.y + 1e-6);
  let at = 2u * group * p.keyDim;
  for (var i = lane; i < p.keyDim; i += ${HEAD_LANES}u) {
    unit[at + i] = mixed[queries + i] * ofQuery;
    unit[at + p.keyDim + i] = mixed[keys + i] * ofKey;
  }
  let times = p.valueHeads / p.keyHeads;
  for (var n = lane; n < times; n += ${HEAD_LANES}u) {
    let value = head * times + n;
    let i = token * p.valueHeads + value;
    let step = a[i] + timeBias[value];
    let rate = expDown(-decay[value]);
    let amount = rate * (max(step, 0.0) + log(1.0 + expDown(abs(step))));
    gates[${GATES}u * i] = expDown(amount);
    gates[${GATES}u * i + 1u] = 1.0 / (1.0 + expDown(b[i]));
    gates[${GATES}u * i + 2u] = sums.z * ofQuery * ofKey;
    gates[${GATES}u * i + 3u] = -amount;
    gates[${GATES}u * i + 4u] = -rate / (1.0 + expDown(step));
  }`,
});

/** Of a sequence: first token, tokens, where its state goes and where it comes from (−1: nowhere), first and number of those that continue it. */
export const ENTRY = 6;

/** WGSL: which sequence, head and line a lane has. */
const place = (lines: string): string => `  let blocks = (${lines} + ${LINES - 1}u) / ${LINES}u;
  if (group >= p.count * p.valueHeads * blocks) { return; }
  let sequence = p.first + group / (p.valueHeads * blocks);
  let head = group / blocks % p.valueHeads;
  let keyHead = head / (p.valueHeads / p.keyHeads);
  let line = group % blocks * ${LINES}u + lane % ${LINES}u;
  let isOwn = line < ${lines};
  let own = min(line, ${lines} - 1u);
  let part = lane / ${LINES}u;
  let entry = ${ENTRY}u * sequence;
  let start = u32(table[entry]);
  let length = u32(table[entry + 1u]);`;

/** WGSL: the state that a lane starts with, whose n-th number is at \`at(n)\` of a row of \`states\`. */
const startState = (back: boolean, numbers: number, size: string, at: string): string => `
  var state: array<f32, ${numbers}>;
  let size = ${size};
${
  back
    ? `  let members = u32(table[entry + 4u]);
  for (var member = members; member < members + u32(table[entry + 5u]); member++) {
    for (var n = 0u; n < ${numbers}u; n++) { state[n] += states[member * size + ${at}]; }
  }`
    : `  let source = table[entry + 3u];
  if (source >= 0) { for (var n = 0u; n < ${numbers}u; n++) { state[n] = states[u32(source) * size + ${at}]; } }`
}`;

/** WGSL: the token of place \`n\` on the way. */
const tokenAt = (back: boolean, n: string): string => (back ? `(start + length - 1u - ${n})` : `(start + ${n})`);

export interface ColumnSweep {
  readonly keyDim: number;
  /** The gradient's way, from the last token. */
  readonly back: boolean;
  /** What is written of a token: o or x on the way forward, du on the way back. */
  readonly out: 'o' | 'x' | 'du';
}

/** Columns of the state. given: values within \`mixed\`, or do. → out, its numbers of a token and head \`stride\` apart. */
export const columnSweep: (key: ColumnSweep) => Program = variants(({ keyDim, back, out }: ColumnSweep) => {
  const numbers = keyDim / PARTS;
  const at = `(head * ${keyDim}u + part * ${numbers}u + n) * p.valueDim + own`;
  const isWritten = back ? 'p.writes == 1u' : 'table[entry + 2u] >= 0';
  const row = back ? '(sequence - p.first)' : 'u32(table[entry + 2u])';
  return program({
    name: `GatedDelta columns ${out}`,
    parameters: [
      ...['first', 'count', 'keyHeads', 'valueHeads', 'valueDim'],
      ...['width', 'valuesAt', 'stride', 'offset', 'writes'],
    ],
    buffers: { unit: 'f32', given: 'f32', gates: 'f32', table: 'i32', states: 'rw f32', out: 'rw f32' },
    workgroup: LANES,
    declarations: `var<workgroup> vectors: array<f32, ${BLOCK * 2 * keyDim}>;
var<workgroup> parts: array<vec2<f32>, ${2 * LANES}>;`,
    main: `${place('p.valueDim')}
${startState(back, numbers, `p.valueHeads * ${keyDim}u * p.valueDim`, at)}
  for (var first = 0u; first < length; first += ${BLOCK}u) {
    let count = min(${BLOCK}u, length - first);
    workgroupBarrier();
    for (var i = lane; i < count * ${2 * keyDim}u; i += ${LANES}u) {
      let token = ${tokenAt(back, `(first + i / ${2 * keyDim}u)`)};
      vectors[i] = unit[(token * p.keyHeads + keyHead) * ${2 * keyDim}u + i % ${2 * keyDim}u];
    }
    workgroupBarrier();
    for (var j = 0u; j < count; j++) {
      let i = ${tokenAt(back, '(first + j)')} * p.valueHeads + head;
      let value = given[i / p.valueHeads * p.width + p.valuesAt + head * p.valueDim + own];
      let kept = gates[${GATES}u * i];
      let strength = gates[${GATES}u * i + 1u];
      let queries = j * ${2 * keyDim}u + part * ${numbers}u;
      let keys = queries + ${keyDim}u;
      var sum = vec2<f32>(0.0);
      for (var n = 0u; n < ${numbers}u; n++) { sum += vec2<f32>(vectors[keys + n], vectors[queries + n]) * state[n]; }
      let half = j % 2u * ${LANES}u;
      parts[half + lane] = sum;
      workgroupBarrier();
      var total = vec2<f32>(0.0);
      for (var other = 0u; other < ${PARTS}u; other++) { total += parts[half + other * ${LINES}u + lane % ${LINES}u]; }
${
  back
    ? `      let made = total.x + gates[${GATES}u * i + 2u] * value;
      let less = strength * made;
      for (var n = 0u; n < ${numbers}u; n++) {
        state[n] = kept * (state[n] + vectors[queries + n] * value - vectors[keys + n] * less);
      }`
    : `      let right = value - kept * total.x;
      let written = strength * right;
      let made = ${out === 'x' ? 'right' : `kept * total.y + gates[${GATES}u * i + 2u] * written`};
      for (var n = 0u; n < ${numbers}u; n++) { state[n] = kept * state[n] + vectors[keys + n] * written; }`
}
      if (isOwn && part == 0u) { out[i * p.stride + p.offset + own] = made; }
    }
  }
  if (isOwn && ${isWritten}) {
    for (var n = 0u; n < ${numbers}u; n++) { states[${row} * size + ${at}] = state[n]; }
  }`,
  });
});

export interface RowSweep {
  readonly valueDim: number;
  readonly back: boolean;
}

/** Rows of the state. rows [N, H, 2, V] of x and du → grads [N, H, 2, K] of q and k: the way back writes those of k, the way forward adds to them. */
export const rowSweep: (key: RowSweep) => Program = variants(({ valueDim, back }: RowSweep) => {
  const numbers = valueDim / PARTS;
  const at = `(head * p.keyDim + own) * ${valueDim}u + part * ${numbers}u + n`;
  return program({
    name: `GatedDelta rows ${back ? 'back' : 'forward'}`,
    parameters: ['first', 'count', 'keyHeads', 'valueHeads', 'keyDim'],
    buffers: {
      rows: 'f32',
      dy: 'f32',
      unit: 'f32',
      gates: 'f32',
      table: 'i32',
      states: 'f32',
      grads: 'rw f32',
    },
    workgroup: LANES,
    // Of a token u, du and do.
    declarations: `var<workgroup> vectors: array<f32, ${BLOCK * 3 * valueDim}>;
var<workgroup> parts: array<vec2<f32>, ${BLOCK * LANES}>;`,
    main: `${place('p.keyDim')}
${startState(back, numbers, `p.valueHeads * p.keyDim * ${valueDim}u`, at)}
  for (var first = 0u; first < length; first += ${BLOCK}u) {
    let count = min(${BLOCK}u, length - first);
    workgroupBarrier();
    for (var i = lane; i < count * ${valueDim}u; i += ${LANES}u) {
      let row = ${tokenAt(back, `(first + i / ${valueDim}u)`)} * p.valueHeads + head;
      let column = i % ${valueDim}u;
      let to = i / ${valueDim}u * ${3 * valueDim}u + column;
      vectors[to] = gates[${GATES}u * row + 1u] * rows[row * ${2 * valueDim}u + column];
      vectors[to + ${valueDim}u] = rows[row * ${2 * valueDim}u + ${valueDim}u + column];
      vectors[to + ${2 * valueDim}u] = dy[row * ${valueDim}u + column];
    }
    workgroupBarrier();
    for (var j = 0u; j < count; j++) {
      let token = ${tokenAt(back, '(first + j)')};
      let gate = ${GATES}u * (token * p.valueHeads + head);
      let ofQuery = (token * p.keyHeads + keyHead) * 2u * p.keyDim + own;
      let key = unit[ofQuery + p.keyDim];
      let kept = gates[gate];
      let less = gates[gate + 1u] * ${back ? 'key' : 'kept'};
      let u = j * ${3 * valueDim}u + part * ${numbers}u;
      let du = u + ${valueDim}u;
      let dOut = du + ${valueDim}u;
      var sum = vec2<f32>(0.0);
${
  back
    ? `      let query = unit[ofQuery];
      for (var n = 0u; n < ${numbers}u; n++) {
        let now = state[n] + query * vectors[dOut + n];
        sum.y += now * vectors[u + n];
        state[n] = kept * (now - less * vectors[du + n]);
      }`
    : `      for (var n = 0u; n < ${numbers}u; n++) {
        sum.y -= less * state[n] * vectors[du + n];
        state[n] = kept * state[n] + key * vectors[u + n];
        sum.x += state[n] * vectors[dOut + n];
      }`
}
      parts[j * ${LANES}u + lane] = sum;
    }
    workgroupBarrier();
    if (part < count && isOwn) {
      let done = part * ${LANES}u + lane % ${LINES}u;
      var total = vec2<f32>(0.0);
      for (var other = 0u; other < ${PARTS}u; other++) { total += parts[done + other * ${LINES}u]; }
      let to = (${tokenAt(back, '(first + part)')} * p.valueHeads + head) * 2u * p.keyDim + own;
${back ? '      grads[to + p.keyDim] = total.y;' : '      grads[to] = total.x;\n      grads[to + p.keyDim] += total.y;'}
    }
  }`,
  });
});
