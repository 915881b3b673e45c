/**
 * Packed attention, forward and backward, without a matrix of all scores (Dao 2023, arXiv 2307.08691): a workgroup has
 * a block of rows (or keys) and walks over the keys (or rows) that matter to it, a tile in workgroup memory at a time.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { roundsProducts } from '../../compute-dtype.ts';
import type { AttentionShape } from '../../ops/attention.ts';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register } from '../kernel.ts';
import { partsByCost } from '../work.ts';
import { forwardProgram } from './attention-forward.ts';
import { keyGradProgram, queryGradProgram, STATS_HEADS, splitSumProgram, statsProgram } from './attention-gradients.ts';
import { PlanCache } from './attention-plans.ts';
import type { AttentionKey } from './attention-products.ts';
import { BLOCK } from './attention-tile.ts';
import { findScales, takesHeads } from './attention-units.ts';

/** Operations of a pair of row and key for a number of a head, weighed by how much slower they are than a product's. */
const FORWARD_WORK = 4 * 4;
const QUERY_GRADIENT_WORK = 4 * 6;
const KEY_GRADIENT_WORK = 4 * 8;

export function registerAttention(register: Register): void {
  const cache = new PlanCache();
  /** How a run computes: in float32 but for units that may round. */
  const keyOf = ({ gpu }: WebGpuBackend, { headDim }: AttentionShape): AttentionKey => {
    const memory = gpu.adapter.limits.maxComputeWorkgroupStorageSize;
    const unit = gpu.attentionByUnits && roundsProducts() ? gpu.matrixUnit : null;
    return {
      headDim,
      unit: unit !== null && takesHeads(unit, headDim, memory) ? unit : null,
      memory,
    };
  };

  register<AttentionShape>('PackedAttention', ({ backend, input, attrs }) => {
    const { numHeads, numKvHeads, headDim, scale } = attrs;
    const [q, k, v] = [input('q'), input('k'), input('v')];
    const [tokens = 0] = q.shape;
    const group = numHeads / numKvHeads;
    const { rows, rowCosts } = cache.get(backend, input('segments'), tokens, group);
    const [out, lse] = [backend.output(q.shape), backend.output([tokens, numHeads])];
    const key = keyOf(backend, attrs);
    const scales = key.unit === null ? [] : [backend.output([3])];
    for (const target of scales) findScales(backend, [q, k, v], target, 0);
    const buffers = [q, k, v, rows, ...scales, out, lse].map((tensor) => backend.buffer(tensor));
    const parameters = [numHeads, numKvHeads, group, scale];
    const { gpu } = backend;
    const code = forwardProgram(key);
    for (const { first, count, work } of partsByCost(rowCosts, FORWARD_WORK * numKvHeads * headDim, gpu.mostWork))
      gpu.run(code, buffers, [...parameters, first], [count, numKvHeads, 1], work);
    backend.release(...scales);
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
    const stats = backend.output([n + 2, 2]);
    const [dQ, dK, dV] = [backend.output(q.shape), backend.output(k.shape), backend.output(v.shape)];
    const buffers = (...tensors: readonly TensorInfo[]) => tensors.map((tensor) => backend.buffer(tensor));
    gpu.run(statsProgram, buffers(dy, out, lse, stats), [n, headDim / 4], groupsFor(n, STATS_HEADS));
    const key = keyOf(backend, attrs);
    if (key.unit !== null) findScales(backend, [q, k, v, dy], stats, 2 * n);
    const parameters = [numHeads, numKvHeads, group, scale, n];
    const unit = numKvHeads * headDim;
    const forQueries = buffers(q, k, v, dy, rows, stats, dQ);
    const [byRows, byKeys] = [queryGradProgram(key), keyGradProgram(key)];
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
    backend.release(stats);
    return [dQ, dK, dV];
  });
}
