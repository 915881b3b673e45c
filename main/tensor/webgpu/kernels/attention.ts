/**
 * Packed attention, forward and backward, without a matrix of all scores (Dao 2023, arXiv 2307.08691): a workgroup has
 * a block of rows (or keys) and walks over the keys (or rows) that matter to it, a tile in workgroup memory at a time.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { AttentionShape } from '../../ops/attention.ts';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register } from '../kernel.ts';
import { type Program, program, variants } from '../program.ts';
import { partsByCost } from '../work.ts';
import {
  DELTA_HEADS,
  deltaProgram,
  keyGradProgram,
  pairProgram,
  queryGradProgram,
  splitSumProgram,
} from './attention-gradients.ts';
import { PlanCache } from './attention-plans.ts';
import {
  addProducts,
  BLOCK,
  declareSums,
  forSums,
  OPEN_KEYS,
  OPEN_ROWS,
  panels,
  ROW_AND_KEY,
  SCORES_STRIDE,
  scoreLines,
  scorePlace,
  scoresOf,
  storeSums,
  type Tile,
  tileFor,
} from './attention-tile.ts';

const forwardProgram = variants((tile: Tile): Program => {
  const { vectors, lanes } = tile;
  // Lanes that share a row's softmax.
  const team = lanes / BLOCK;
  return program({
    name: 'PackedAttention',
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'skip'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      blocks: 'i32',
      out: 'rw vec4<f32>',
      lse: 'rw f32',
    },
    workgroup: lanes,
    declarations: `
${panels(tile)}
var<workgroup> factors: array<f32, ${BLOCK}>;
var<workgroup> masses: array<f32, ${lanes}>;
${ROW_AND_KEY}`,
    main: `
${OPEN_ROWS}
  let row = lane / ${team}u;
  let me = lane % ${team}u;
  let f = firstRow + row;
  let seen = seenBy(f);
  var most = -1e30;
  var mass = 0.0;
${declareSums(tile, 'o')}
  for (var u0 = 0u; u0 < total; u0 += ${BLOCK}u) {
${OPEN_KEYS}
${scoresOf(tile, 's', 'q', 'k')}
${scoreLines(tile)
  .map((i) => `    scores[${scorePlace(tile, i)}] = p.scale * s${i};`)
  .join('\n')}
    workgroupBarrier();
    var top = most;
    for (var c = 0u; c < ${BLOCK / 4}u; c++) {
      let four = select(vec4(-1e30), scores[row * ${SCORES_STRIDE}u + c], among(u0 + 4u * c, seen));
      top = max(top, max(max(four.x, four.y), max(four.z, four.w)));
    }
    workgroupBarrier();
    let shrink = exp(most - top);
    most = top;
    mass *= shrink;
    if (me == 0u) { factors[row] = shrink; }
    for (var c = me; c < ${BLOCK / 4}u; c += ${team}u) {
      let at = row * ${SCORES_STRIDE}u + c;
      let four = select(vec4(0.0), exp(min(scores[at] - top, vec4(0.0))), among(u0 + 4u * c, seen));
      scores[at] = four;
      mass += dot(four, vec4(1.0));
    }
    workgroupBarrier();
${forSums(tile, 'o', ({ name, line }) => `${name} *= factors[${line}];`)}
${addProducts(tile, 'o', 'v')}
  }
  masses[lane] = mass;
  workgroupBarrier();
  mass = 0.0;
  for (var i = 0u; i < ${team}u; i++) { mass += masses[row * ${team}u + i]; }
  if (me == 0u) { factors[row] = 1.0 / max(mass, 1e-30); }
  if (me == 0u && f < rowsOfSegment) { lse[own[row]] = most + log(mass); }
  workgroupBarrier();
${storeSums(
  tile,
  'o',
  ({ name, line, column }) =>
    `if (firstRow + ${line} < rowsOfSegment) { out[own[${line}] * ${vectors}u + ${column}] = ${name} * factors[${line}]; }`,
)}`,
  });
});

/** Operations of a pair of row and key for a number of a head, weighed by how much slower they are than a product's. */
const FORWARD_WORK = 4 * 4;
const QUERY_GRADIENT_WORK = 4 * 6;
const KEY_GRADIENT_WORK = 4 * 8;

export function registerAttention(register: Register): void {
  const cache = new PlanCache();
  const tileOf = ({ gpu }: WebGpuBackend, { headDim }: AttentionShape, results: number): Tile =>
    tileFor(headDim, results, gpu.adapter.limits.maxComputeWorkgroupStorageSize);

  register<AttentionShape>('PackedAttention', ({ backend, input, attrs }) => {
    const { numHeads, numKvHeads, headDim, scale } = attrs;
    const [q, k, v] = [input('q'), input('k'), input('v')];
    const [tokens = 0] = q.shape;
    const group = numHeads / numKvHeads;
    const { rows, rowCosts } = cache.get(backend, input('segments'), tokens, group);
    const [out, lse] = [backend.output(q.shape), backend.output([tokens, numHeads])];
    const buffers = [q, k, v, rows, out, lse].map((tensor) => backend.buffer(tensor));
    const parameters = [numHeads, numKvHeads, group, scale];
    const { gpu } = backend;
    const code = forwardProgram(tileOf(backend, attrs, 1));
    for (const { first, count, work } of partsByCost(rowCosts, FORWARD_WORK * numKvHeads * headDim, gpu.mostWork))
      gpu.run(code, buffers, [...parameters, first], [count, numKvHeads, 1], work);
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
    const group = numHeads / numKvHeads;
    const segments = input('segments');
    const { rows, rowCosts } = cache.get(backend, segments, tokens, group);
    const keys = cache.keys(backend, segments, tokens, group);
    const n = tokens * numHeads;
    const [delta, stats] = [backend.output([n]), backend.output([n, 2])];
    const [dQ, dK, dV] = [backend.output(q.shape), backend.output(k.shape), backend.output(v.shape)];
    const buffers = (...tensors: readonly TensorInfo[]) => tensors.map((tensor) => backend.buffer(tensor));
    gpu.run(deltaProgram, buffers(dy, out, delta), [n, headDim / 4], groupsFor(n, DELTA_HEADS));
    gpu.run(pairProgram, buffers(lse, delta, stats), [n], groupsFor(n, 64));
    const parameters = [numHeads, numKvHeads, group, scale];
    const unit = numKvHeads * headDim;
    const forQueries = buffers(q, k, v, dy, rows, stats, dQ);
    const [byRows, byKeys] = [queryGradProgram(tileOf(backend, attrs, 1)), keyGradProgram(tileOf(backend, attrs, 2))];
    for (const { first, count, work } of partsByCost(rowCosts, QUERY_GRADIENT_WORK * unit, gpu.mostWork))
      gpu.run(byRows, forQueries, [...parameters, first], [count, numKvHeads, 1], work);
    const keyGradients = (costs: readonly number[], before: number, ...results: readonly TensorInfo[]): void => {
      const forKeys = buffers(q, k, v, dy, keys.plan, stats, ...results);
      for (const { first, count, work } of partsByCost(costs, KEY_GRADIENT_WORK * unit, gpu.mostWork))
        gpu.run(byKeys, forKeys, [...parameters, before + first, keys.pairsAt], [count, numKvHeads, 1], work);
    };
    if (keys.splits > 0) {
      const shape = [keys.lines, numKvHeads * headDim];
      const [partK, partV] = [backend.output(shape), backend.output(shape)];
      keyGradients(keys.partCosts, keys.wholeCosts.length, partK, partV);
      const width = (numKvHeads * headDim) / 4;
      gpu.run(
        splitSumProgram,
        buffers(keys.plan, partK, partV, dK, dV),
        [keys.splits, width, BLOCK, keys.splitsAt],
        groupsFor(keys.splits * BLOCK * width, 64),
      );
      backend.release(partK, partV);
    }
    keyGradients(keys.wholeCosts, 0, dK, dV);
    backend.release(delta, stats);
    return [dQ, dK, dV];
  });
}
