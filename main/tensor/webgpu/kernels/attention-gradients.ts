/** The programs of packed attention's backward pass: gradients of the queries by rows, of keys and values by keys. */
import { type Program, program, variants } from '../program.ts';
import { KEY_BLOCK, PAIR, SPLIT } from './attention-plan.ts';
import { dot4, forColumns, load, openRows, partsOf, ROW_AND_KEY, spread, type Tile } from './attention-tile.ts';

const DELTA_LANES = 64;
/** Lanes that share a head, so that they read it side by side. */
const DELTA_TEAM = 8;
export const DELTA_HEADS = DELTA_LANES / DELTA_TEAM;

/** Σ dy·out over each head: [N, H]. */
export const deltaProgram = program({
  name: 'PackedAttentionDelta',
  parameters: ['n', 'vectors'],
  buffers: { dy: 'vec4<f32>', out: 'vec4<f32>', delta: 'rw f32' },
  workgroup: DELTA_LANES,
  declarations: `var<workgroup> sums: array<f32, ${DELTA_LANES}>;`,
  main: `  let head = group * ${DELTA_HEADS}u + lane / ${DELTA_TEAM}u;
  let me = lane % ${DELTA_TEAM}u;
  let base = min(head, p.n - 1u) * p.vectors;
  var sum = 0.0;
  for (var c = me; c < p.vectors; c += ${DELTA_TEAM}u) { sum += dot(dy[base + c], out[base + c]); }
  sums[lane] = sum;
  workgroupBarrier();
  if (me != 0u || head >= p.n) { return; }
  var all = 0.0;
  for (var i = 0u; i < ${DELTA_TEAM}u; i++) { all += sums[lane + i]; }
  delta[head] = all;`,
});

/** The queries' gradient, a block of rows over its keys. */
export const queryGradProgram = variants((tile: Tile): Program => {
  const { vectors, team, rows, keys } = tile;
  const stride = spread(tile);
  return program({
    name: 'PackedAttentionGradQ',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'skip'],
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
    workgroup: team * rows,
    declarations: `
var<workgroup> qs: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> dys: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> ks: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> vs: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> dScores: array<f32, ${rows * stride}>;
${ROW_AND_KEY}
${dot4('qs', 'ks', tile)}
${dot4('dys', 'vs', tile)}`,
    main: `
${openRows(tile)}
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
    for (var j = me; j < ${keys}u; j += ${team}u) {
      var slope = 0.0;
      if (u0 + j < total && sees(f, u0 + j)) {
        slope = exp(p.scale * qs_ks(row, j) - logsum) * (dys_vs(row, j) - along) * p.scale;
      }
      dScores[row * ${stride}u + j] = slope;
    }
    workgroupBarrier();
    for (var j = 0u; j < ${keys}u; j++) {
      let slope = dScores[row * ${stride}u + j];
${forColumns(tile, (part, column) => `g${part} = fma(vec4(slope), ks[j * ${vectors}u + ${column}], g${part});`)}
    }
  }
  if (f >= rowsOfSegment) { return; }
${forColumns(tile, (part, column) => `dQ[place * ${vectors}u + ${column}] = g${part};`)}`,
  });
});

/** The keys' and values' gradients, a block of keys over the rows that see it. */
export const keyGradProgram = variants((tile: Tile): Program => {
  // Here a team of lanes has a key, and a tile is one of rows.
  const { vectors, team, rows: keys, keys: rows } = tile;
  const stride = spread(tile);
  return program({
    name: 'PackedAttentionGradKV',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'skip', 'pairs'],
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
    workgroup: team * keys,
    declarations: `
var<workgroup> ks: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> vs: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> qs: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> dys: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> stats: array<vec2<f32>, ${rows}>;
var<workgroup> probs: array<f32, ${keys * stride}>;
var<workgroup> dScores: array<f32, ${keys * stride}>;
fn place(start: u32, f: u32, kvHead: u32) -> u32 {
  return (start + f / p.group) * p.heads + kvHead * p.group + f % p.group;
}
${dot4('ks', 'qs', tile)}
${dot4('vs', 'dys', tile)}`,
    main: `
  let kvHead = wg.y;
  let row = lane / ${team}u;
  let me = lane % ${team}u;
  let entry = (wg.x + p.skip) * ${KEY_BLOCK}u;
  let firstKey = u32(plan[entry]);
  let count = u32(plan[entry + 1u]);
  let firstPair = u32(plan[entry + 2u]);
  let endPair = firstPair + u32(plan[entry + 3u]);
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
      for (var j = lane; j < ${rows}u; j += ${team * keys}u) {
        stats[j] = lseDelta[place(start, min(f0 + j, endRow - 1u), kvHead)];
      }
      workgroupBarrier();
      for (var j = me; j < ${rows}u; j += ${team}u) {
        let f = f0 + j;
        let seen = row < count && f < endRow && key >= low && key < high && (!causal || key <= start + f / p.group);
        var probability = 0.0;
        var slope = 0.0;
        if (seen) {
          probability = exp(p.scale * ks_qs(row, j) - stats[j].x);
          slope = probability * (vs_dys(row, j) - stats[j].y) * p.scale;
        }
        probs[row * ${stride}u + j] = probability;
        dScores[row * ${stride}u + j] = slope;
      }
      workgroupBarrier();
      for (var j = 0u; j < ${rows}u; j++) {
        let probability = probs[row * ${stride}u + j];
        let slope = dScores[row * ${stride}u + j];
${forColumns(
  tile,
  (part, column) => `gv${part} = fma(vec4(probability), dys[j * ${vectors}u + ${column}], gv${part});
    gk${part} = fma(vec4(slope), qs[j * ${vectors}u + ${column}], gk${part});`,
)}
      }
    }
  }
  if (row >= count) { return; }
  let out = (u32(plan[entry + 4u]) + row) * p.kvHeads + kvHead;
${forColumns(tile, (part, column) => `dK[out * ${vectors}u + ${column}] = gk${part};\n    dV[out * ${vectors}u + ${column}] = gv${part};`)}`,
  });
});

/** Adds up the parts of split blocks: [lines, K*d] → the lines of their keys. */
export const splitSumProgram = program({
  name: 'PackedAttentionGradSum',
  parameters: ['splits', 'width', 'keys', 'splitsAt'],
  buffers: { plan: 'i32', partK: 'vec4<f32>', partV: 'vec4<f32>', dK: 'rw vec4<f32>', dV: 'rw vec4<f32>' },
  workgroup: 64,
  main: `  let i = group * 64u + lane;
  let each = p.keys * p.width;
  let at = p.splitsAt + i / each * ${SPLIT}u;
  let rest = i % each;
  if (i >= p.splits * each || rest >= u32(plan[at + 1u]) * p.width) { return; }
  let first = u32(plan[at + 2u]) * p.width + rest;
  var k = vec4<f32>(0.0);
  var v = vec4<f32>(0.0);
  for (var part = 0u; part < u32(plan[at + 3u]); part++) {
    k += partK[first + part * each];
    v += partV[first + part * each];
  }
  let out = u32(plan[at]) * p.width + rest;
  dK[out] = k;
  dV[out] = v;`,
});

/** logsumexp and delta of each row side by side: one buffer fewer to bind. */
export const pairProgram = program({
  name: 'PackedAttentionStats',
  parameters: ['n'],
  buffers: { a: 'f32', b: 'f32', out: 'rw vec2<f32>' },
  workgroup: 64,
  main: `  let i = group * 64u + lane;
  if (i < p.n) { out[i] = vec2(a[i], b[i]); }`,
});
