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
  dot4,
  forColumns,
  load,
  openRows,
  partsOf,
  ROW_AND_KEY,
  spread,
  type Tile,
  tileFor,
} from './attention-tile.ts';

/** q [N, H*d], k and v [N, K*d] → out [N, H*d], lse [N, H]. */
const forwardProgram = variants((tile: Tile): Program => {
  const { vectors, team, rows, keys } = tile;
  const stride = spread(tile);
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
    workgroup: team * rows,
    declarations: `
var<workgroup> qs: array<vec4<f32>, ${rows * vectors}>;
var<workgroup> ks: array<vec4<f32>, ${keys * vectors}>;
var<workgroup> scores: array<f32, ${rows * stride}>;
${ROW_AND_KEY}
${dot4('qs', 'ks', tile)}`,
    main: `
${openRows(tile)}
  var most = -1e30;
  var mass = 0.0;
${partsOf(tile)
  .map((part) => `  var o${part} = vec4<f32>(0.0);`)
  .join('\n')}
  for (var u0 = 0u; u0 < total; u0 += ${keys}u) {
    workgroupBarrier();
${load('ks', 'k', keys, tile, 'u0 + j < total', 'keyToken(u0 + j) * p.kvHeads + kvHead')}
    workgroupBarrier();
    for (var j = me; j < ${keys}u; j += ${team}u) {
      let seen = u0 + j < total && sees(f, u0 + j);
      scores[row * ${stride}u + j] = select(-1e30, p.scale * qs_ks(row, j), seen);
    }
    workgroupBarrier();
    // The keys have been used: their place is free for the values.
${load('ks', 'v', keys, tile, 'u0 + j < total', 'keyToken(u0 + j) * p.kvHeads + kvHead')}
    var top = most;
    for (var j = 0u; j < ${keys}u; j++) { top = max(top, scores[row * ${stride}u + j]); }
    let shrink = exp(most - top);
    workgroupBarrier();
    for (var j = me; j < ${keys}u; j += ${team}u) {
      let score = scores[row * ${stride}u + j];
      scores[row * ${stride}u + j] = select(0.0, exp(score - top), score > -9e29);
    }
    workgroupBarrier();
    most = top;
    mass *= shrink;
${partsOf(tile)
  .map((part) => `    o${part} *= shrink;`)
  .join('\n')}
    for (var j = 0u; j < ${keys}u; j++) {
      let probability = scores[row * ${stride}u + j];
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

/** Operations of a pair of row and key for a number of a head, weighed by how much slower they are than a product's. */
const FORWARD_WORK = 4 * 4;
const QUERY_GRADIENT_WORK = 4 * 6;
const KEY_GRADIENT_WORK = 4 * 8;

export function registerAttention(register: Register): void {
  const cache = new PlanCache();
  const tileOf = (backend: WebGpuBackend, { headDim }: AttentionShape): Tile =>
    tileFor(headDim, backend.gpu.adapter.limits.maxComputeWorkgroupStorageSize);

  register<AttentionShape>('PackedAttention', ({ backend, input, attrs }) => {
    const { numHeads, numKvHeads, headDim, scale } = attrs;
    const [q, k, v] = [input('q'), input('k'), input('v')];
    const [tokens = 0] = q.shape;
    const tile = tileOf(backend, attrs);
    const group = numHeads / numKvHeads;
    const { rows, rowCosts } = cache.get(backend, input('segments'), tokens, group, tile);
    const [out, lse] = [backend.output(q.shape), backend.output([tokens, numHeads])];
    const buffers = [q, k, v, rows, out, lse].map((tensor) => backend.buffer(tensor));
    const parameters = [numHeads, numKvHeads, group, scale];
    const { gpu } = backend;
    for (const { first, count, work } of partsByCost(rowCosts, FORWARD_WORK * numKvHeads * headDim, gpu.mostWork))
      gpu.run(forwardProgram(tile), buffers, [...parameters, first], [count, numKvHeads, 1], work);
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
    const { rows, rowCosts } = cache.get(backend, segments, tokens, group, tile);
    const keys = cache.keys(backend, segments, tokens, group, tile);
    const n = tokens * numHeads;
    const [delta, stats] = [backend.output([n]), backend.output([n, 2])];
    const [dQ, dK, dV] = [backend.output(q.shape), backend.output(k.shape), backend.output(v.shape)];
    const buffers = (...tensors: readonly TensorInfo[]) => tensors.map((tensor) => backend.buffer(tensor));
    gpu.run(deltaProgram, buffers(dy, out, delta), [n, headDim / 4], groupsFor(n, DELTA_HEADS));
    gpu.run(pairProgram, buffers(lse, delta, stats), [n], groupsFor(n, 64));
    const parameters = [numHeads, numKvHeads, group, scale];
    const unit = numKvHeads * headDim;
    const forQueries = buffers(q, k, v, dy, rows, lse, delta, dQ);
    for (const { first, count, work } of partsByCost(rowCosts, QUERY_GRADIENT_WORK * unit, gpu.mostWork))
      gpu.run(queryGradProgram(tile), forQueries, [...parameters, first], [count, numKvHeads, 1], work);
    const keyGradients = (costs: readonly number[], before: number, ...results: readonly TensorInfo[]): void => {
      const forKeys = buffers(q, k, v, dy, keys.plan, stats, ...results);
      for (const { first, count, work } of partsByCost(costs, KEY_GRADIENT_WORK * unit, gpu.mostWork))
        gpu.run(
          keyGradProgram(tile),
          forKeys,
          [...parameters, before + first, keys.pairsAt],
          [count, numKvHeads, 1],
          work,
        );
    };
    if (keys.splits > 0) {
      const shape = [keys.lines, numKvHeads * headDim];
      const [partK, partV] = [backend.output(shape), backend.output(shape)];
      keyGradients(keys.partCosts, keys.wholeCosts.length, partK, partV);
      const width = (numKvHeads * headDim) / 4;
      gpu.run(
        splitSumProgram,
        buffers(keys.plan, partK, partV, dK, dV),
        [keys.splits, width, tile.rows, keys.splitsAt],
        groupsFor(keys.splits * tile.rows * width, 64),
      );
      backend.release(partK, partV);
    }
    keyGradients(keys.wholeCosts, 0, dK, dV);
    backend.release(delta, stats);
    return [dQ, dK, dV];
  });
}
