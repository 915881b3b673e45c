/** The programs of packed attention's backward pass: gradients of the queries by rows, of keys and values by keys. */
import { type Program, program, variants } from '../program.ts';
import { KEY_BLOCK, PAIR, SPLIT } from './attention-plan.ts';
import {
  addProducts,
  BLOCK,
  declareSums,
  FIRST_SCORE,
  OPEN_KEYS,
  OPEN_ROWS,
  panels,
  ROW_AND_KEY,
  scoreLine,
  scoreLines,
  scorePlace,
  scoresOf,
  storeSums,
  type Tile,
} from './attention-tile.ts';

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
  const { vectors, lanes } = tile;
  const rows = scoreLines(tile);
  return program({
    name: 'PackedAttentionGradQ',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'skip'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      dy: 'vec4<f32>',
      blocks: 'i32',
      lseDelta: 'vec2<f32>',
      dQ: 'rw vec4<f32>',
    },
    workgroup: lanes,
    declarations: `
${panels(tile)}
${ROW_AND_KEY}`,
    main: `
${OPEN_ROWS}
  workgroupBarrier();
${rows
  .map(
    (i) => `  let seen${i} = seenBy(firstRow + ${scoreLine(tile, i)});
  let stats${i} = lseDelta[own[${scoreLine(tile, i)}]];`,
  )
  .join('\n')}
${declareSums(tile, 'g')}
  for (var u0 = 0u; u0 < total; u0 += ${BLOCK}u) {
${OPEN_KEYS}
${scoresOf(tile, 's', 'q', 'k')}
${scoresOf(tile, 't', 'dy', 'v')}
${rows
  .map(
    (i) => `    {
      let probability = exp(min(p.scale * s${i} - stats${i}.x, vec4(1.0)));
      let slope = probability * (t${i} - stats${i}.y) * p.scale;
      scores[${scorePlace(tile, i)}] = select(vec4(0.0), slope, among(u0 + ${FIRST_SCORE}, seen${i}));
    }`,
  )
  .join('\n')}
${addProducts(tile, 'g', 'k')}
  }
${storeSums(
  tile,
  'g',
  ({ name, line, column }) =>
    `if (firstRow + ${line} < rowsOfSegment) { dQ[own[${line}] * ${vectors}u + ${column}] = ${name}; }`,
)}`,
  });
});

/** The keys' and values' gradients, a block of keys over the rows that see it. */
export const keyGradProgram = variants((tile: Tile): Program => {
  const { vectors, lanes } = tile;
  const keys = scoreLines(tile);
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
    workgroup: lanes,
    declarations: `
${panels(tile)}
// Of each row of a tile: its statistics, and the first key that it doesn't see any more.
var<workgroup> stats: array<vec2<f32>, ${BLOCK}>;
var<workgroup> ends: array<u32, ${BLOCK}>;
fn fourOf(first: u32) -> vec4<u32> { return vec4(ends[first], ends[first + 1u], ends[first + 2u], ends[first + 3u]); }
fn logsums(first: u32) -> vec4<f32> {
  return vec4(stats[first].x, stats[first + 1u].x, stats[first + 2u].x, stats[first + 3u].x);
}
fn deltas(first: u32) -> vec4<f32> {
  return vec4(stats[first].y, stats[first + 1u].y, stats[first + 2u].y, stats[first + 3u].y);
}`,
    main: `
  let kvHead = wg.y;
  let entry = (wg.x + p.skip) * ${KEY_BLOCK}u;
  let firstKey = u32(plan[entry]);
  let count = u32(plan[entry + 1u]);
  let firstPair = u32(plan[entry + 2u]);
  let endPair = firstPair + u32(plan[entry + 3u]);
  if (lane < ${BLOCK}u) { own[lane] = (firstKey + min(lane, count - 1u)) * p.kvHeads + kvHead; }
${declareSums(tile, 'gk')}
${declareSums(tile, 'gv')}
  for (var pair = firstPair; pair < endPair; pair++) {
    let at = p.pairs + pair * ${PAIR}u;
    let start = u32(plan[at]);
    let endRow = u32(plan[at + 2u]);
    let low = u32(plan[at + 3u]);
    let high = u32(plan[at + 4u]);
    let causal = plan[at + 5u] != 0;
    for (var f0 = u32(plan[at + 1u]); f0 < endRow; f0 += ${BLOCK}u) {
      if (lane < ${BLOCK}u) {
        let f = min(f0 + lane, endRow - 1u);
        let token = start + f / p.group;
        let row = token * p.heads + kvHead * p.group + f % p.group;
        others[lane] = row;
        stats[lane] = lseDelta[row];
        ends[lane] = select(0u, select(high, min(high, token + 1u), causal), f0 + lane < endRow);
      }
${scoresOf(tile, 's', 'k', 'q')}
${scoresOf(tile, 't', 'v', 'dy')}
      let logsum = logsums(${FIRST_SCORE});
      let along = deltas(${FIRST_SCORE});
      let end = fourOf(${FIRST_SCORE});
${keys
  .map(
    (i) => `      let key${i} = firstKey + ${scoreLine(tile, i)};
      let seen${i} = vec4(key${i}) < select(vec4(0u), end, key${i} >= low);
      let exact${i} = exp(min(p.scale * s${i} - logsum, vec4(1.0)));
      let probability${i} = select(vec4(0.0), exact${i}, seen${i});
      scores[${scorePlace(tile, i)}] = probability${i};`,
  )
  .join('\n')}
${addProducts(tile, 'gv', 'dy')}
      workgroupBarrier();
${keys.map((i) => `      scores[${scorePlace(tile, i)}] = probability${i} * (t${i} - along) * p.scale;`).join('\n')}
${addProducts(tile, 'gk', 'q')}
    }
  }
  let line0 = u32(plan[entry + 4u]);
${(['gk', 'gv'] as const)
  .map((result) =>
    storeSums(
      tile,
      result,
      ({ name, line, column }) =>
        `if (${line} < count) { ${result === 'gk' ? 'dK' : 'dV'}[((line0 + ${line}) * p.kvHeads + kvHead) * ${vectors}u + ${column}] = ${name}; }`,
    ),
  )
  .join('\n')}`,
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
