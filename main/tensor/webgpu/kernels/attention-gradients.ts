/** The programs of packed attention's backward pass: gradients of the queries by rows, of keys and values by keys. */
import { type Program, program, variants } from '../program.ts';
import { KEY_BLOCK, PAIR, SPLIT } from './attention-plan.ts';
import { type AttentionKey, productsOf } from './attention-products.ts';
import {
  BLOCK,
  FIRST_SCORE,
  KEYS_OF_ROWS,
  LINES,
  OPEN_KEYS,
  OPEN_ROWS,
  programOf,
  type Scales,
  scoreLine,
  scoreLines,
} from './attention-tile.ts';

const STATS_LANES = 64;
/** Lanes that share a head, so that they read it side by side. */
const STATS_TEAM = 8;
export const STATS_HEADS = STATS_LANES / STATS_TEAM;

/** logsumexp and Σ dy·out of each head, side by side: one buffer fewer to bind. [N, H] → [N, H, 2]. */
export const statsProgram = program({
  name: 'PackedAttentionStats',
  parameters: ['n', 'vectors'],
  buffers: { dy: 'vec4<f32>', out: 'vec4<f32>', lse: 'f32', stats: 'rw vec2<f32>' },
  workgroup: STATS_LANES,
  declarations: `var<workgroup> sums: array<f32, ${STATS_LANES}>;`,
  main: `  let head = group * ${STATS_HEADS}u + lane / ${STATS_TEAM}u;
  let me = lane % ${STATS_TEAM}u;
  let base = min(head, p.n - 1u) * p.vectors;
  var sum = 0.0;
  for (var c = me; c < p.vectors; c += ${STATS_TEAM}u) { sum += dot(dy[base + c], out[base + c]); }
  sums[lane] = sum;
  workgroupBarrier();
  if (me != 0u || head >= p.n) { return; }
  var all = 0.0;
  for (var i = 0u; i < ${STATS_TEAM}u; i++) { all += sums[lane + i]; }
  stats[head] = vec2(lse[head], all);`,
});

/** Behind the statistics of all rows. */
const SCALES: Scales = {
  q: 'stats[p.rows].x',
  k: 'stats[p.rows].y',
  v: 'stats[p.rows + 1u].x',
  dy: 'stats[p.rows + 1u].y',
};

/** The queries' gradient, a block of rows over its keys. */
export const queryGradProgram = variants((key: AttentionKey): Program => {
  const products = productsOf(key, 1);
  const rows = scoreLines(products);
  const line = (i: number): string => scoreLine(products, i);
  return program({
    ...programOf(products, 'PackedAttentionGradQ'),
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'rows', 'skip'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      dy: 'vec4<f32>',
      blocks: 'i32',
      stats: 'vec2<f32>',
      dQ: 'rw vec4<f32>',
    },
    declarations: `
${products.declarations}
${LINES}
${KEYS_OF_ROWS}`,
    main: `
${OPEN_ROWS}
${products.open(SCALES)}
${rows
  .map(
    (i) => `  let seen${i} = seenBy(firstRow + ${line(i)});
  let row${i} = stats[own[${line(i)}]];`,
  )
  .join('\n')}
${products.declareSums('g')}
  for (var u0 = 0u; u0 < total; u0 += ${BLOCK}u) {
${OPEN_KEYS}
${products.scoresOf('s', 'q', 'k')}
${products.scoresOf('t', 'dy', 'v')}
${rows
  .map(
    (i) => `    let all${i} = exp(min(p.scale * s${i} - row${i}.x, vec4(1.0))) * (t${i} - row${i}.y);
    let gradient${i} = select(vec4(0.0), all${i}, among(u0 + ${FIRST_SCORE}, seen${i}));`,
  )
  .join('\n')}
${products.keepWeights('gradients', (i) => `gradient${i}`)}
${products.addProducts('g', 'k')}
  }
${products.storeSums('g', 'gradients', 'k', ({ vector, line: row, column }) => `if (firstRow + ${row} < rowsOfSegment) { dQ[own[${row}] * ${products.vectors}u + ${column}] = ${vector} * p.scale; }`)}`,
  });
});

/** The keys' and values' gradients, a block of keys over the rows that see it. */
export const keyGradProgram = variants((key: AttentionKey): Program => {
  const products = productsOf(key, 2);
  const keys = scoreLines(products);
  const line = (i: number): string => scoreLine(products, i);
  const place = (row: string, column: string): string =>
    `((line0 + ${row}) * p.kvHeads + kvHead) * ${products.vectors}u + ${column}`;
  return program({
    ...programOf(products, 'PackedAttentionGradKV'),
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'rows', 'skip', 'pairs'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      dy: 'vec4<f32>',
      plan: 'i32',
      stats: 'vec2<f32>',
      dK: 'rw vec4<f32>',
      dV: 'rw vec4<f32>',
    },
    declarations: `
${products.declarations}
${LINES}
// Of each row of a tile: its statistics, and the first key that it doesn't see any more.
var<workgroup> logsums: array<f32, ${BLOCK}>;
var<workgroup> deltas: array<f32, ${BLOCK}>;
var<workgroup> ends: array<u32, ${BLOCK}>;`,
    main: `
  let kvHead = wg.y;
  let entry = (wg.x + p.skip) * ${KEY_BLOCK}u;
  let firstKey = u32(plan[entry]);
  let count = u32(plan[entry + 1u]);
  let firstPair = u32(plan[entry + 2u]);
  let endPair = firstPair + u32(plan[entry + 3u]);
  let mine = ${FIRST_SCORE};
  if (lane < ${BLOCK}u) { own[lane] = (firstKey + min(lane, count - 1u)) * p.kvHeads + kvHead; }
${products.open(SCALES)}
${products.declareSums('gk')}
${products.declareSums('gv')}
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
        let row = rowPlace(start, f, kvHead);
        others[lane] = row;
        logsums[lane] = stats[row].x;
        deltas[lane] = stats[row].y;
        ends[lane] = select(0u, select(high, min(high, start + f / p.group + 1u), causal), f0 + lane < endRow);
      }
${products.scoresOf('s', 'k', 'q')}
${products.scoresOf('t', 'v', 'dy')}
      let logsum = ${fourOf('logsums')};
      let along = ${fourOf('deltas')};
      let end = ${fourOf('ends')};
${keys
  .map(
    (i) => `      let key${i} = firstKey + ${line(i)};
      let seen${i} = vec4(key${i}) < select(vec4(0u), end, key${i} >= low);
      let all${i} = exp(min(p.scale * s${i} - logsum, vec4(1.0)));
      let probability${i} = select(vec4(0.0), all${i}, seen${i});`,
  )
  .join('\n')}
${products.keepWeights('probabilities', (i) => `probability${i}`)}
${products.addProducts('gv', 'dy')}
      workgroupBarrier();
${products.keepWeights('gradients', (i) => `probability${i} * (t${i} - along)`)}
${products.addProducts('gk', 'q')}
    }
  }
  let line0 = u32(plan[entry + 4u]);
${products.storeSums('gk', 'gradients', 'q', ({ vector, line: row, column }) => `if (${row} < count) { dK[${place(row, column)}] = ${vector} * p.scale; }`)}
${products.storeSums('gv', 'probabilities', 'dy', ({ vector, line: row, column }) => `if (${row} < count) { dV[${place(row, column)}] = ${vector}; }`)}`,
  });
});

/** Of the lane's four rows. */
const fourOf = (array: string): string => `vec4(${[0, 1, 2, 3].map((n) => `${array}[mine + ${n}u]`).join(', ')})`;

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
