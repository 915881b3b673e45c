/**
 * Packed attention, forward and backward, without a matrix of all scores (Dao 2023, arXiv 2307.08691): a workgroup has
 * a block of rows (or keys) and walks over the keys (or rows) that matter to it, a tile in workgroup memory at a time.
 * Eight lanes share a row: each computes every eighth score and has an eighth of the columns of the result.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { AttentionShape } from '../../ops/attention.ts';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register } from '../kernel.ts';
import { type Program, program, variants } from '../program.ts';
import { KEY_BLOCK, keyPlan, PAIR, ROW_BLOCK, rowPlan } from './attention-plan.ts';

const TEAM = 8;

interface Tile {
  /** Vectors of four in a head. */
  readonly vectors: number;
  /** Rows of a block, a team of lanes each. */
  readonly rows: number;
  /** Keys of a tile. */
  readonly keys: number;
}

/** Block and tile so that two of each (queries and their gradients, keys and values) fit into workgroup memory. */
export function tileFor(headDim: number, memory: number): Tile {
  let [rows, keys] = [16, 32];
  const bytes = (): number => 2 * (rows + keys) * headDim * 4 + 2 * rows * keys * 4 + 512;
  while (bytes() > memory && keys > TEAM) keys /= 2;
  while (bytes() > memory && rows > 2) rows /= 2;
  if (headDim % 4 !== 0 || bytes() > memory)
    throw new Error(`Expected a head_dim of a multiple of 4 that fits into ${memory} bytes, got ${headDim}`);
  return { vectors: headDim / 4, rows, keys };
}

/** The parts of the columns that a lane has, as suffixes of variables: a loop over an array would end in slow memory. */
const partsOf = ({ vectors }: Tile): number[] => Array.from({ length: Math.ceil(vectors / TEAM) }, (_, i) => i);

/** Runs a statement for each of a lane's columns. */
function forColumns(tile: Tile, statement: (part: number, column: string) => string): string {
  return partsOf(tile)
    .map((part) => {
      const column = `(me + ${TEAM * part}u)`;
      const line = statement(part, column);
      return TEAM * (part + 1) <= tile.vectors ? `  { ${line} }` : `  if (${column} < ${tile.vectors}u) { ${line} }`;
    })
    .join('\n');
}

/** Statements that fill a panel in workgroup memory; `token` is an expression of j, the line in the panel. */
function load(panel: string, source: string, lines: number, tile: Tile, valid: string, at: string): string {
  const lanes = TEAM * tile.rows;
  return `
  for (var i = lane; i < ${lines * tile.vectors}u; i += ${lanes}u) {
    let j = i / ${tile.vectors}u;
    let c = i % ${tile.vectors}u;
    var value = vec4<f32>(0.0);
    if (${valid}) { value = ${source}[(${at}) * ${tile.vectors}u + c]; }
    ${panel}[i] = value;
  }`;
}

/** Where row j of the block, and key u of all that the segment sees, lie. */
const ROW_AND_KEY = `
var<private> start: u32;
var<private> rowsOfSegment: u32;
var<private> firstRow: u32;
var<private> prefix: u32;
var<private> prefixLength: u32;
fn rowToken(f: u32) -> u32 { return start + f / p.group; }
fn rowPlace(f: u32, kvHead: u32) -> u32 { return rowToken(f) * p.heads + kvHead * p.group + f % p.group; }
fn keyToken(u: u32) -> u32 { return select(start + u - prefixLength, prefix + u, u < prefixLength); }
fn sees(f: u32, u: u32) -> bool {
  return f < rowsOfSegment && (u < prefixLength || u - prefixLength <= f / p.group);
}
fn openBlock(at: u32) {
  start = u32(blocks[at]);
  rowsOfSegment = u32(blocks[at + 1u]) * p.group;
  firstRow = u32(blocks[at + 2u]);
  prefix = u32(blocks[at + 3u]);
  prefixLength = u32(blocks[at + 4u]);
}`;

const dot4 = (a: string, b: string, tile: Tile): string => `
fn ${a}_${b}(i: u32, j: u32) -> f32 {
  var sum = vec4<f32>(0.0);
  for (var c = 0u; c < ${tile.vectors}u; c++) { sum = fma(${a}[i * ${tile.vectors}u + c], ${b}[j * ${tile.vectors}u + c], sum); }
  return sum.x + sum.y + sum.z + sum.w;
}`;

/** q [N, H*d], k and v [N, K*d] → out [N, H*d], lse [N, H]. */
const forwardProgram = variants((tile: Tile): Program => {
  const { vectors, rows, keys } = tile;
  return program({
    name: 'PackedAttention',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      blocks: 'i32',
      out: 'rw vec4<f32>',
      lse: 'rw f32',
    },
    workgroup: TEAM * rows,
    declarations: `
var<workgroup> qs: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> ks: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> scores: array<f32, ${rows * keys}>;
${ROW_AND_KEY}
${dot4('qs', 'ks', tile)}`,
    main: `
  let kvHead = wg.y;
  openBlock(wg.x * ${ROW_BLOCK}u);
  let row = lane / ${TEAM}u;
  let me = lane % ${TEAM}u;
  let f = firstRow + row;
  let entry = wg.x * ${ROW_BLOCK}u;
  let lastRow = min(u32(blocks[entry + 2u]) + ${rows - 1}u, u32(blocks[entry + 1u]) * p.group - 1u);
  let total = u32(blocks[entry + 4u]) + lastRow / p.group + 1u;
${load('qs', 'q', rows, tile, 'firstRow + j < rowsOfSegment', 'rowPlace(firstRow + j, kvHead)')}
  var most = -1e30;
  var mass = 0.0;
${partsOf(tile)
  .map((part) => `  var o${part} = vec4<f32>(0.0);`)
  .join('\n')}
  for (var u0 = 0u; u0 < total; u0 += ${keys}u) {
    workgroupBarrier();
${load('ks', 'k', keys, tile, 'u0 + j < total', 'keyToken(u0 + j) * p.kvHeads + kvHead')}
    workgroupBarrier();
    for (var j = me; j < ${keys}u; j += ${TEAM}u) {
      let seen = u0 + j < total && sees(f, u0 + j);
      scores[row * ${keys}u + j] = select(-1e30, p.scale * qs_ks(row, j), seen);
    }
    workgroupBarrier();
    // The keys have been used: their place is free for the values.
${load('ks', 'v', keys, tile, 'u0 + j < total', 'keyToken(u0 + j) * p.kvHeads + kvHead')}
    var top = most;
    for (var j = 0u; j < ${keys}u; j++) { top = max(top, scores[row * ${keys}u + j]); }
    let shrink = exp(most - top);
    workgroupBarrier();
    for (var j = me; j < ${keys}u; j += ${TEAM}u) {
      let score = scores[row * ${keys}u + j];
      scores[row * ${keys}u + j] = select(0.0, exp(score - top), score > -9e29);
    }
    workgroupBarrier();
    most = top;
    mass *= shrink;
${partsOf(tile)
  .map((part) => `    o${part} *= shrink;`)
  .join('\n')}
    for (var j = 0u; j < ${keys}u; j++) {
      let probability = scores[row * ${keys}u + j];
      mass += probability;
${forColumns(tile, (part, column) => `o${part} = fma(vec4(probability), ks[j * ${vectors}u + ${column}], o${part});`)}
    }
  }
  if (f >= rowsOfSegment) { return; }
  let place = rowPlace(f, kvHead);
${forColumns(tile, (part, column) => `out[place * ${vectors}u + ${column}] = o${part} / mass;`)}
  if (me == 0u) { lse[place] = most + log(mass); }`,
  });
});

/** Σ dy·out over each head: [N, H]. */
const deltaProgram = program({
  name: 'PackedAttentionDelta',
  parameters: ['n', 'vectors'],
  buffers: { dy: 'vec4<f32>', out: 'vec4<f32>', delta: 'rw f32' },
  workgroup: 64,
  main: `  let i = group * 64u + lane;
  if (i >= p.n) { return; }
  var sum = 0.0;
  for (var c = 0u; c < p.vectors; c++) { sum += dot(dy[i * p.vectors + c], out[i * p.vectors + c]); }
  delta[i] = sum;`,
});

/** The queries' gradient, a block of rows over its keys. */
const queryGradProgram = variants((tile: Tile): Program => {
  const { vectors, rows, keys } = tile;
  return program({
    name: 'PackedAttentionGradQ',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      dy: 'vec4<f32>',
      blocks: 'i32',
      lse: 'f32',
      delta: 'f32',
      dQ: 'rw vec4<f32>',
    },
    workgroup: TEAM * rows,
    declarations: `
var<workgroup> qs: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> dys: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> ks: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> vs: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> dScores: array<f32, ${rows * keys}>;
${ROW_AND_KEY}
${dot4('qs', 'ks', tile)}
${dot4('dys', 'vs', tile)}`,
    main: `
  let kvHead = wg.y;
  openBlock(wg.x * ${ROW_BLOCK}u);
  let row = lane / ${TEAM}u;
  let me = lane % ${TEAM}u;
  let f = firstRow + row;
  let entry = wg.x * ${ROW_BLOCK}u;
  let lastRow = min(u32(blocks[entry + 2u]) + ${rows - 1}u, u32(blocks[entry + 1u]) * p.group - 1u);
  let total = u32(blocks[entry + 4u]) + lastRow / p.group + 1u;
${load('qs', 'q', rows, tile, 'firstRow + j < rowsOfSegment', 'rowPlace(firstRow + j, kvHead)')}
${load('dys', 'dy', rows, tile, 'firstRow + j < rowsOfSegment', 'rowPlace(firstRow + j, kvHead)')}
  let place = rowPlace(min(f, rowsOfSegment - 1u), kvHead);
  let logsum = lse[place];
  let along = delta[place];
${partsOf(tile)
  .map((part) => `  var g${part} = vec4<f32>(0.0);`)
  .join('\n')}
  for (var u0 = 0u; u0 < total; u0 += ${keys}u) {
    workgroupBarrier();
${load('ks', 'k', keys, tile, 'u0 + j < total', 'keyToken(u0 + j) * p.kvHeads + kvHead')}
${load('vs', 'v', keys, tile, 'u0 + j < total', 'keyToken(u0 + j) * p.kvHeads + kvHead')}
    workgroupBarrier();
    for (var j = me; j < ${keys}u; j += ${TEAM}u) {
      var slope = 0.0;
      if (u0 + j < total && sees(f, u0 + j)) {
        slope = exp(p.scale * qs_ks(row, j) - logsum) * (dys_vs(row, j) - along) * p.scale;
      }
      dScores[row * ${keys}u + j] = slope;
    }
    workgroupBarrier();
    for (var j = 0u; j < ${keys}u; j++) {
      let slope = dScores[row * ${keys}u + j];
${forColumns(tile, (part, column) => `g${part} = fma(vec4(slope), ks[j * ${vectors}u + ${column}], g${part});`)}
    }
  }
  if (f >= rowsOfSegment) { return; }
${forColumns(tile, (part, column) => `dQ[place * ${vectors}u + ${column}] = g${part};`)}`,
  });
});

/** The keys' and values' gradients, a block of keys over the rows that see it. */
const keyGradProgram = variants((tile: Tile): Program => {
  // Here a team of lanes has a key, and a tile is one of rows.
  const { vectors, rows: keys, keys: rows } = tile;
  return program({
    name: 'PackedAttentionGradKV',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'pairs'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      dy: 'vec4<f32>',
      plan: 'i32',
      lseDelta: 'vec2<f32>',
      dK: 'rw vec4<f32>',
      dV: 'rw vec4<f32>',
    },
    workgroup: TEAM * keys,
    declarations: `
var<workgroup> ks: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> vs: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> qs: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> dys: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> stats: array<vec2<f32>, ${rows}>;
var<workgroup> probs: array<f32, ${keys * rows}>;
var<workgroup> dScores: array<f32, ${keys * rows}>;
fn place(start: u32, f: u32, kvHead: u32) -> u32 {
  return (start + f / p.group) * p.heads + kvHead * p.group + f % p.group;
}
${dot4('ks', 'qs', tile)}
${dot4('vs', 'dys', tile)}`,
    main: `
  let kvHead = wg.y;
  let row = lane / ${TEAM}u;
  let me = lane % ${TEAM}u;
  let firstKey = u32(plan[wg.x * ${KEY_BLOCK}u]);
  let count = u32(plan[wg.x * ${KEY_BLOCK}u + 1u]);
  let firstPair = u32(plan[wg.x * ${KEY_BLOCK}u + 2u]);
  let endPair = firstPair + u32(plan[wg.x * ${KEY_BLOCK}u + 3u]);
  let key = firstKey + row;
${load('ks', 'k', keys, tile, 'j < count', '(firstKey + j) * p.kvHeads + kvHead')}
${load('vs', 'v', keys, tile, 'j < count', '(firstKey + j) * p.kvHeads + kvHead')}
${partsOf(tile)
  .map((part) => `  var gk${part} = vec4<f32>(0.0);\n  var gv${part} = vec4<f32>(0.0);`)
  .join('\n')}
  for (var pair = firstPair; pair < endPair; pair++) {
    let at = p.pairs + pair * ${PAIR}u;
    let start = u32(plan[at]);
    let endRow = u32(plan[at + 2u]);
    let low = u32(plan[at + 3u]);
    let high = u32(plan[at + 4u]);
    let causal = plan[at + 5u] != 0;
    for (var f0 = u32(plan[at + 1u]); f0 < endRow; f0 += ${rows}u) {
      workgroupBarrier();
${load('qs', 'q', rows, { ...tile, rows: keys }, 'f0 + j < endRow', 'place(start, f0 + j, kvHead)')}
${load('dys', 'dy', rows, { ...tile, rows: keys }, 'f0 + j < endRow', 'place(start, f0 + j, kvHead)')}
      for (var j = lane; j < ${rows}u; j += ${TEAM * keys}u) {
        stats[j] = lseDelta[place(start, min(f0 + j, endRow - 1u), kvHead)];
      }
      workgroupBarrier();
      for (var j = me; j < ${rows}u; j += ${TEAM}u) {
        let f = f0 + j;
        let seen = row < count && f < endRow && key >= low && key < high && (!causal || key <= start + f / p.group);
        var probability = 0.0;
        var slope = 0.0;
        if (seen) {
          probability = exp(p.scale * ks_qs(row, j) - stats[j].x);
          slope = probability * (vs_dys(row, j) - stats[j].y) * p.scale;
        }
        probs[row * ${rows}u + j] = probability;
        dScores[row * ${rows}u + j] = slope;
      }
      workgroupBarrier();
      for (var j = 0u; j < ${rows}u; j++) {
        let probability = probs[row * ${rows}u + j];
        let slope = dScores[row * ${rows}u + j];
${forColumns(
  tile,
  (part, column) => `gv${part} = fma(vec4(probability), dys[j * ${vectors}u + ${column}], gv${part});
    gk${part} = fma(vec4(slope), qs[j * ${vectors}u + ${column}], gk${part});`,
)}
      }
    }
  }
  if (row >= count) { return; }
  let out = key * p.kvHeads + kvHead;
${forColumns(tile, (part, column) => `dK[out * ${vectors}u + ${column}] = gk${part};\n    dV[out * ${vectors}u + ${column}] = gv${part};`)}`,
  });
});

/** logsumexp and delta of each row side by side: one buffer fewer to bind. */
const pairProgram = program({
  name: 'PackedAttentionStats',
  parameters: ['n'],
  buffers: { a: 'f32', b: 'f32', out: 'rw vec2<f32>' },
  workgroup: 64,
  main: `  let i = group * 64u + lane;
  if (i < p.n) { out[i] = vec2(a[i], b[i]); }`,
});

/** The tables of a batch's segments on the GPU; all layers use the same. */
interface Plans {
  readonly rows: TensorInfo;
  readonly rowBlocks: number;
  /** Blocks, then pairs. */
  keys: { readonly plan: TensorInfo; readonly blocks: number } | null;
}

/** Plans by the segments' data; they go when the segments do, which `sweep` notices. */
class PlanCache {
  readonly #plans = new Map<object, { readonly key: string; readonly plans: Plans }>();

  get(backend: WebGpuBackend, segments: TensorInfo, tokens: number, group: number, tile: Tile): Plans {
    const key = `${tokens},${group},${tile.rows},${tile.keys}`;
    const known = this.#plans.get(segments.dataId);
    if (known?.key === key) return known.plans;
    this.#sweep(backend);
    if (known !== undefined) this.#drop(backend, segments.dataId);
    const table = rowPlan(backend.values(segments), tokens, group, tile.rows);
    const plans: Plans = { rows: backend.integers(table), rowBlocks: table.length / ROW_BLOCK, keys: null };
    this.#plans.set(segments.dataId, { key, plans });
    return plans;
  }

  keys(backend: WebGpuBackend, segments: TensorInfo, tokens: number, group: number, tile: Tile) {
    const plans = this.get(backend, segments, tokens, group, tile);
    if (plans.keys === null) {
      const { blocks, pairs } = keyPlan(backend.values(segments), tokens, group, tile.rows);
      const plan = backend.integers(Int32Array.from([...blocks, ...pairs]));
      plans.keys = { plan, blocks: blocks.length / KEY_BLOCK };
    }
    return plans.keys;
  }

  #sweep(backend: WebGpuBackend): void {
    for (const segments of this.#plans.keys()) if (backend.refCount(segments) === 0) this.#drop(backend, segments);
  }

  #drop(backend: WebGpuBackend, segments: object): void {
    const plans = this.#plans.get(segments)?.plans;
    this.#plans.delete(segments);
    if (plans === undefined) return;
    backend.release(plans.rows);
    if (plans.keys !== null) backend.release(plans.keys.plan);
  }
}

export function registerAttention(register: Register): void {
  const cache = new PlanCache();
  const tileOf = (backend: WebGpuBackend, { headDim }: AttentionShape): Tile =>
    tileFor(headDim, backend.gpu.adapter.limits.maxComputeWorkgroupStorageSize);

  register<AttentionShape>('PackedAttention', ({ backend, input, attrs }) => {
    const { numHeads, numKvHeads, scale } = attrs;
    const [q, k, v] = [input('q'), input('k'), input('v')];
    const [tokens = 0] = q.shape;
    const tile = tileOf(backend, attrs);
    const group = numHeads / numKvHeads;
    const { rows, rowBlocks } = cache.get(backend, input('segments'), tokens, group, tile);
    const [out, lse] = [backend.output(q.shape), backend.output([tokens, numHeads])];
    const buffers = [q, k, v, rows, out, lse].map((tensor) => backend.buffer(tensor));
    const parameters = [numHeads, numKvHeads, group, scale];
    backend.gpu.run(forwardProgram(tile), buffers, parameters, [rowBlocks, numKvHeads, 1]);
    return [out, lse];
  });

  register<AttentionShape>('PackedAttentionGrad', ({ backend, input, attrs }) => {
    const { numHeads, numKvHeads, headDim, scale } = attrs;
    const [dy, q, k, v, out, lse] = ['dy', 'q', 'k', 'v', 'out', 'lse'].map(input) as [
      TensorInfo,
      TensorInfo,
      TensorInfo,
      TensorInfo,
      TensorInfo,
      TensorInfo,
    ];
    const [tokens = 0] = q.shape;
    const { gpu } = backend;
    const tile = tileOf(backend, attrs);
    const group = numHeads / numKvHeads;
    const segments = input('segments');
    const { rows, rowBlocks } = cache.get(backend, segments, tokens, group, tile);
    const { plan, blocks } = cache.keys(backend, segments, tokens, group, tile);
    const n = tokens * numHeads;
    const [delta, stats] = [backend.output([n]), backend.output([n, 2])];
    const [dQ, dK, dV] = [backend.output(q.shape), backend.output(k.shape), backend.output(v.shape)];
    const buffers = (...tensors: readonly TensorInfo[]) => tensors.map((tensor) => backend.buffer(tensor));
    gpu.run(deltaProgram, buffers(dy, out, delta), [n, headDim / 4], groupsFor(n, 64));
    gpu.run(pairProgram, buffers(lse, delta, stats), [n], groupsFor(n, 64));
    const parameters = [numHeads, numKvHeads, group, scale];
    gpu.run(queryGradProgram(tile), buffers(q, k, v, dy, rows, lse, delta, dQ), parameters, [rowBlocks, numKvHeads, 1]);
    const keyParameters = [...parameters, blocks * KEY_BLOCK];
    gpu.run(keyGradProgram(tile), buffers(q, k, v, dy, plan, stats, dK, dV), keyParameters, [blocks, numKvHeads, 1]);
    backend.release(delta, stats);
    return [dQ, dK, dV];
  });
}
