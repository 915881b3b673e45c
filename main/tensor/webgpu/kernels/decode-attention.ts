/**
 * Attention of one new token a row over its prompt's keys and values, which rows share, and its own so far. A workgroup
 * has a row, a key/value head with all query heads that use it, and a stretch of the keys: where there are more, their
 * results are put together (Dao et al. 2023, Flash-Decoding), by a second program or by the workgroup that comes last
 * (decode-join.ts). The last stretch's workgroup writes the step's keys and values.
 */
import type { AttentionShape } from '../../ops/attention.ts';
import type { WebGpuBackend } from '../backend.ts';
import { headsTooLarge } from '../faults.ts';
import { groupsFor } from '../kernel.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, range, variants } from '../program.ts';
import { readApart, readRaw } from './decode-heads.ts';
import {
  JOIN_PARAMETERS,
  joinBytes,
  joinDeclarations,
  joinStretches,
  leaveHeads,
  stretchWords,
} from './decode-join.ts';
import { KV_CODEC, type KvFormat, kvElement } from './kv-pack.ts';

const LANES = 128;

/** Tiles of a stretch. */
const STRETCH = 4;

/** What a tile of keys may take of the workgroup's memory. */
const TILE_BYTES = 12_288;

interface Key {
  readonly vectors: number;
  readonly group: number;
  /** Keys of a tile. */
  readonly keys: number;
  readonly format: KvFormat;
  /** Whether there is more than one stretch. */
  readonly split: boolean;
  /** Queries, keys and values as the products left them, side by side: heads are rotated here. */
  readonly raw: boolean;
  /** Each head of queries and keys is normed first (Qwen3). */
  readonly headNorm: boolean;
  /** All in one dispatch; low: with the low-rank numbers of what follows. */
  readonly whole: 'low' | 'plain' | null;
}

/** As many keys as the tile and the workgroup's memory hold beside queries, the step's key and value, and scores. */
function keysOfTile(vectors: number, group: number, memory: number, whole: boolean): number {
  // Each of the other variables may be rounded up by 12 bytes.
  const rest = memory - 16 * vectors * (group + 2) - 12 * group - 80 - (whole ? joinBytes(LANES) : 0);
  const keys = Math.min(32, Math.floor(TILE_BYTES / (16 * vectors)), Math.floor(rest / (16 * vectors + 8 * group)));
  if (keys < 1) throw headsTooLarge(`${group} heads of ${4 * vectors} on one key`, memory);
  return keys;
}

/**
 * The vector that comes `c`-th in a product with line `line` of a panel. Lanes beside each other have lines beside each
 * other, whole heads apart: all would read from the same banks if they began at the same vector.
 */
export const vectorOf = (c: string, line: string, vectors: number): string => `(${c} + ${line}) % ${vectors}u`;

/** Prefix and own cache hold all keys first, then all values. */
const attendProgram = variants(({ vectors, group, keys, format, split, raw, headNorm, whole }: Key): Program => {
  const parts = range(Math.ceil((group * vectors) / LANES));
  const columns = (statement: (part: number) => string): string =>
    parts
      .map((part) => {
        const line = `let i = lane + ${LANES * part}u; ${statement(part)}`;
        return LANES * (part + 1) <= group * vectors
          ? `  { ${line} }`
          : `  if (lane + ${LANES * part}u < ${group * vectors}u) { ${line} }`;
      })
      .join('\n');
  const loads = range(Math.ceil((keys * vectors) / LANES));
  // Keys and values are asked for together, as they lie: to wait for memory twice would take as long again.
  const fetch = loads
    .map(
      (n) => `    let i${n} = lane + ${n * LANES}u;
    let key${n} = u0 + i${n} / ${vectors}u;
    let shared${n} = key${n} < prefixLength;
    let earlier${n} = !shared${n} && key${n} + 1u < total;
    let c${n} = kvHead * ${vectors}u + i${n} % ${vectors}u;
    let inPrefix${n} = select(0u, (prefixStart + key${n}) * p.kvHeads * ${vectors}u + c${n}, shared${n});
    let inOwn${n} = select(0u, (slot * p.capacity + key${n} - prefixLength) * p.kvHeads * ${vectors}u + c${n}, earlier${n});
    let k${n} = select(own[inOwn${n}], prefix[inPrefix${n}], shared${n});
    let v${n} = select(own[p.ownSize + inOwn${n}], prefix[p.prefixSize + inPrefix${n}], shared${n});`,
    )
    .join('\n');
  const fill = (name: 'k' | 'v'): string =>
    loads
      .map((n) => {
        const put = `{
      var value = select(vec4<f32>(0.0), unpackKv(${name}${n}), shared${n} || earlier${n});
      if (key${n} + 1u == total) { value = fresh[${name === 'k' ? '0u' : `${vectors}u`} + i${n} % ${vectors}u]; }
      panel[i${n}] = value;
    }`;
        return LANES * (n + 1) <= keys * vectors ? `    ${put}` : `    if (i${n} < ${keys * vectors}u) ${put}`;
      })
      .join('\n');
  return program({
    name: `DecodeAttention ${format}`,
    parameters: [
      'kvHeads',
      'capacity',
      'step',
      'prefixSize',
      'ownSize',
      'positions',
      'scale:f32',
      'eps:f32',
      'stretches',
      ...(whole === null ? [] : JOIN_PARAMETERS),
    ],
    buffers: {
      ...(raw ? { qkv: 'vec4<f32>', trig: 'vec4<f32>' } : { q: 'vec4<f32>', k: 'vec4<f32>', v: 'vec4<f32>' }),
      ...(headNorm && whole === null && { norms: 'vec4<f32>' }),
      ...((whole === 'low' || (headNorm && whole !== null)) && { extra: 'vec4<f32>' }),
      prefix: kvElement(format),
      rows: 'i32',
      own: `rw ${kvElement(format)}`,
      ...(split && whole !== null && { sums: 'rw atomic<u32>' }),
      out: 'rw vec4<f32>',
    },
    workgroup: LANES,
    declarations: `
${KV_CODEC[format]}
var<workgroup> qs: array<vec4<f32>, ${group * vectors}>;
/** The step's key, then its value. */
var<workgroup> fresh: array<vec4<f32>, ${2 * vectors}>;
var<workgroup> panel: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> scores: array<f32, ${group * keys}>;
var<workgroup> weights: array<f32, ${group * keys}>;
var<workgroup> most: array<f32, ${group}>;
var<workgroup> tops: array<f32, ${group}>;
var<workgroup> shrink: array<f32, ${group}>;
${whole === null ? '' : joinDeclarations(LANES, split)}`,
    main: `
  let row = wg.x;
  let kvHead = wg.y;
  let slot = u32(rows[3u * row]);
  let prefixStart = u32(rows[3u * row + 1u]);
  let prefixLength = u32(rows[3u * row + 2u]);
  let total = prefixLength + p.step + 1u;
  let heads = p.kvHeads * ${group}u;
  let first = (row * heads + kvHead * ${group}u) * ${vectors}u;
${
  split
    ? `  let begin = wg.z * ${STRETCH * keys}u;
  let end = min(total, begin + ${STRETCH * keys}u);
  let place = (row * heads + kvHead * ${group}u) * p.stretches + wg.z;
${
  whole === null
    ? `  if (begin >= total) {
    if (lane < ${group}u) { out[(place + lane * p.stretches) * ${vectors + 1}u + ${vectors}u] = vec4<f32>(-1e30, 0.0, 0.0, 0.0); }
    return;
  }`
    : '  if (begin >= total) { return; }'
}`
    : `  let begin = 0u;
  let end = total;`
}
${raw ? readRaw(LANES, vectors, group, headNorm ? (whole === null ? 'norms[' : 'extra[p.norms + ') : null) : readApart(LANES, vectors, group)}
  if (end == total && lane < ${vectors}u) {
    let place = ((slot * p.capacity + p.step) * p.kvHeads + kvHead) * ${vectors}u + lane;
    own[place] = packKv(fresh[lane]);
    own[p.ownSize + place] = packKv(fresh[${vectors}u + lane]);
  }
  if (lane < ${group}u) { most[lane] = -1e30; }
${parts.map((part) => `  var o${part} = vec4<f32>(0.0);\n  var mass${part} = 0.0;`).join('\n')}
  for (var u0 = begin; u0 < end; u0 += ${keys}u) {
${fetch}
    workgroupBarrier();
${fill('k')}
    workgroupBarrier();
    for (var i = lane; i < ${group * keys}u; i += ${LANES}u) {
      let g = i / ${keys}u;
      let j = i % ${keys}u;
      var sum = vec4<f32>(0.0);
      for (var n = 0u; n < ${vectors}u; n++) {
        let c = ${vectorOf('n', 'j', vectors)};
        sum = fma(qs[g * ${vectors}u + c], panel[j * ${vectors}u + c], sum);
      }
      scores[i] = select(-1e30, p.scale * (sum.x + sum.y + sum.z + sum.w), u0 + j < total);
    }
    workgroupBarrier();
    // The keys have been used: their place is free for the values.
${fill('v')}
    for (var i = lane; i < ${group * keys}u; i += ${LANES}u) {
      let g = i / ${keys}u;
      var top = most[g];
      for (var j = 0u; j < ${keys}u; j++) { top = max(top, scores[g * ${keys}u + j]); }
      weights[i] = select(0.0, exp(scores[i] - top), scores[i] > -9e29);
      if (i % ${keys}u == 0u) {
        shrink[g] = exp(most[g] - top);
        tops[g] = top;
      }
    }
    workgroupBarrier();
    if (lane < ${group}u) { most[lane] = tops[lane]; }
${columns(
  (part) => `
    let g = i / ${vectors}u;
    var sum = o${part} * shrink[g];
    var all = mass${part} * shrink[g];
    for (var j = 0u; j < ${keys}u; j++) {
      let weight = weights[g * ${keys}u + j];
      all += weight;
      sum = fma(vec4(weight), panel[j * ${vectors}u + i % ${vectors}u], sum);
    }
    o${part} = sum;
    mass${part} = all;`,
)}
  }
${
  split && whole === null
    ? `  workgroupBarrier();
${columns(
  (part) => `
    let g = i / ${vectors}u;
    let to = (place + g * p.stretches) * ${vectors + 1}u;
    out[to + i % ${vectors}u] = o${part};
    if (i % ${vectors}u == 0u) { out[to + ${vectors}u] = vec4<f32>(most[g], mass${part}, 0.0, 0.0); }`,
)}`
    : `${split ? joinStretches(vectors, group, STRETCH * keys, columns) : ''}
${columns(
  (part) => `
    let result = o${part} / mass${part};
    out[first + i] = result;
    ${whole === 'low' ? 'qs[i] = result;' : ''}`,
)}
${whole === 'low' ? leaveHeads(vectors, group, LANES) : ''}`
}`,
  });
});

/** Of each head and stretch: weighted values, then the largest score and the sum of the weights → out, heads side by side. */
const joinProgram = program({
  name: 'DecodeAttentionSum',
  parameters: ['n', 'vectors', 'stretches'],
  buffers: { parts: 'vec4<f32>', out: 'rw vec4<f32>' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.n) { return; }
  let first = i / p.vectors * p.stretches * (p.vectors + 1u);
  var most = -1e30;
  for (var s = 0u; s < p.stretches; s++) { most = max(most, parts[first + s * (p.vectors + 1u) + p.vectors].x); }
  var sum = vec4<f32>(0.0);
  var mass = 0.0;
  for (var s = 0u; s < p.stretches; s++) {
    let at = first + s * (p.vectors + 1u);
    let whole = parts[at + p.vectors];
    if (whole.y > 0.0) {
      let weight = exp(whole.x - most);
      sum = fma(vec4(weight), parts[at + i % p.vectors], sum);
      mass = fma(weight, whole.y, mass);
    }
  }
  out[i] = sum / mass;`,
});

/** What an attention in one dispatch has besides; places count vectors of four numbers. */
export interface WholeAttention {
  /** The heads' norms, if there are, then A [r, heads] of what follows. */
  readonly extra: GpuBuffer | null;
  readonly headNorm: boolean;
  /** Where A lies in `extra`, and where the low-rank numbers of each key/value head go in `out`, of `lines` vectors a row. */
  readonly next: { readonly a: number; readonly low: number; readonly lines: number } | null;
  /** Rows that `out` has room for. */
  readonly room: number;
  /** For the stretches of the rows, cleared once (`stretchSums`). */
  readonly sums: GpuBuffer;
}

/** What attention reads and where its result goes. */
export interface DecodeAttention {
  /** Ready, one buffer each; or side by side as the products left them, with what norms and rotates them. */
  readonly qkv:
    | { readonly q: GpuBuffer; readonly k: GpuBuffer; readonly v: GpuBuffer }
    | {
        readonly raw: GpuBuffer;
        /** cos of every position, then sin. */
        readonly trig: GpuBuffer;
        readonly positions: number;
        /** The norm of queries' heads, then keys'; null: none. */
        readonly norms: GpuBuffer | null;
        readonly eps: number;
        /** Does all in one dispatch. */
        readonly whole?: WholeAttention;
      };
  readonly prefix: GpuBuffer;
  /** Slot, first prompt token and number of prompt tokens of each row. */
  readonly rows: GpuBuffer;
  readonly own: GpuBuffer;
  /** For the results of all stretches (`stretchNumbers`); null: there is one at most. */
  readonly parts: GpuBuffer | null;
  readonly out: GpuBuffer;
  readonly batch: number;
  readonly step: number;
  /** Tokens of the longest prompt. */
  readonly longest: number;
  readonly capacity: number;
  readonly slots: number;
  readonly prefixTokens: number;
  readonly format: KvFormat;
}

/** Numbers that all stretches of so many rows and keys leave; 0 where one stretch holds the keys. */
export function stretchNumbers(
  { gpu }: WebGpuBackend,
  { numHeads, numKvHeads, headDim }: AttentionShape,
  rows: number,
  keys: number,
): number {
  const memory = gpu.adapter.limits.maxComputeWorkgroupStorageSize;
  const stretches = Math.ceil(keys / (STRETCH * keysOfTile(headDim / 4, numHeads / numKvHeads, memory, false)));
  return stretches > 1 ? rows * numHeads * stretches * (headDim + 4) : 0;
}

/** Words that they need where one dispatch does all: a counter of each row and head, then what stretches leave. */
export function stretchSums(
  { gpu }: WebGpuBackend,
  { numHeads, numKvHeads, headDim }: AttentionShape,
  rows: number,
  keys: number,
): number {
  const memory = gpu.adapter.limits.maxComputeWorkgroupStorageSize;
  const [vectors, group] = [headDim / 4, numHeads / numKvHeads];
  const stretches = Math.ceil(keys / (STRETCH * keysOfTile(vectors, group, memory, true)));
  return rows * numKvHeads * (1 + stretches * stretchWords(vectors, group));
}

export function decodeAttention({ gpu }: WebGpuBackend, shape: AttentionShape, call: DecodeAttention): void {
  const { numHeads, numKvHeads, headDim, scale } = shape;
  const { qkv, prefix, rows, own, parts, out, batch, step, longest, capacity, slots, prefixTokens, format } = call;
  const raw = 'raw' in qkv;
  const norms = raw ? qkv.norms : null;
  const whole = raw ? qkv.whole : undefined;
  const vectors = headDim / 4;
  const group = numHeads / numKvHeads;
  const memory = gpu.adapter.limits.maxComputeWorkgroupStorageSize;
  const keys = keysOfTile(vectors, group, memory, whole !== undefined);
  const lines = numKvHeads * vectors;
  const given = raw ? [qkv.raw, qkv.trig, ...(norms === null ? [] : [norms])] : [qkv.q, qkv.k, qkv.v];
  const sizes = [numKvHeads, capacity, step, prefixTokens * lines, slots * capacity * lines];
  const stretches = Math.ceil((longest + step + 1) / (STRETCH * keys));
  const split = stretches > 1;
  if (raw && whole !== undefined) {
    const { extra, headNorm, next, room, sums } = whole;
    const kind = next === null ? 'plain' : 'low';
    const small = extra !== null && (headNorm || next !== null) ? [extra] : [];
    gpu.run(
      attendProgram({ vectors, group, keys, format, split, raw, headNorm, whole: kind }),
      [qkv.raw, qkv.trig, ...small, prefix, rows, own, ...(split ? [sums] : []), out],
      [
        ...[...sizes, qkv.positions, scale, qkv.eps, stretches],
        ...[0, next?.a ?? 0, next?.low ?? 0, next?.lines ?? 0, room, batch * numKvHeads],
      ],
      [batch, numKvHeads, stretches],
    );
    return;
  }
  const result = split ? parts : out;
  if (result === null) throw new Error('Expected a buffer for the results of several stretches');
  gpu.run(
    attendProgram({ vectors, group, keys, format, split, raw, headNorm: norms !== null, whole: null }),
    [...given, prefix, rows, own, result],
    [...sizes, raw ? qkv.positions : 0, scale, raw ? qkv.eps : 0, stretches],
    [batch, numKvHeads, stretches],
  );
  if (!split) return;
  const n = batch * numHeads * vectors;
  gpu.run(joinProgram, [result, out], [n, vectors, stretches], groupsFor(n, LANES));
}
