/**
 * Packed attention, forward and backward, without a matrix of all scores (Dao 2023, arXiv 2307.08691): a workgroup has
 * a block of rows (or keys) and walks over the keys (or rows) that matter to it, a tile in workgroup memory at a time.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { roundsProducts } from '../../compute-dtype.ts';
import type { AttentionShape } from '../../ops/attention.ts';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register } from '../kernel.ts';
import { type Program, program, variants } from '../program.ts';
import { partsByCost } from '../work.ts';
import { keyGradProgram, queryGradProgram, STATS_HEADS, splitSumProgram, statsProgram } from './attention-gradients.ts';
import { PlanCache } from './attention-plans.ts';
import { type AttentionKey, productsOf } from './attention-products.ts';
import {
  BLOCK,
  FIRST_SCORE,
  FOURS,
  OPEN_KEYS,
  OPEN_ROWS,
  programOf,
  RAISE,
  ROW_AND_KEY,
  scoreLine,
  scoreLines,
} from './attention-tile.ts';
import { findScales, takesHeads } from './attention-units.ts';

export const forwardProgram = variants((key: AttentionKey): Program => {
  const products = productsOf(key, 1);
  const rows = scoreLines(products);
  const line = (i: number): string => scoreLine(products, i);
  const seen = (i: number): string => `among(u0 + ${FIRST_SCORE}, seen${i})`;
  return program({
    ...programOf(products, 'PackedAttention'),
    parameters: ['heads', 'kvHeads', 'group', 'scale:f32', 'skip'],
    buffers: {
      q: 'vec4<f32>',
      k: 'vec4<f32>',
      v: 'vec4<f32>',
      blocks: 'i32',
      ...(key.unit !== null && { scales: 'f32' }),
      out: 'rw vec4<f32>',
      lse: 'rw f32',
    },
    declarations: `
${products.declarations}
// Of each row: what each of its lanes found, and what its sums are multiplied by.
var<workgroup> found: array<f32, ${BLOCK * FOURS}>;
var<workgroup> factors: array<f32, ${BLOCK}>;
var<workgroup> raised: atomic<u32>;
${ROW_AND_KEY}`,
    main: `
${OPEN_ROWS}
${products.open({ q: 'scales[0]', k: 'scales[1]', v: 'scales[2]' })}
${rows
  .map(
    (i) => `  let seen${i} = seenBy(firstRow + ${line(i)});
  var most${i} = -1e30;
  var mass${i} = 0.0;`,
  )
  .join('\n')}
${products.declareSums('o')}
  for (var u0 = 0u; u0 < total; u0 += ${BLOCK}u) {
${OPEN_KEYS}
${products.scoresOf('s', 'q', 'k')}
    if (lane == 0u) { atomicStore(&raised, 0u); }
${rows
  .map(
    (i) => `    let x${i} = select(vec4(-1e30), p.scale * s${i}, ${seen(i)});
    found[${line(i)} * ${FOURS}u + lane % ${FOURS}u] = max(max(x${i}.x, x${i}.y), max(x${i}.z, x${i}.w));`,
  )
  .join('\n')}
    workgroupBarrier();
${rows
  .map(
    (i) => `    var top${i} = most${i};
    for (var c = 0u; c < ${FOURS}u; c++) { top${i} = max(top${i}, found[${line(i)} * ${FOURS}u + c]); }
    if (top${i} > most${i} + ${RAISE}.0) { atomicStore(&raised, 1u); }`,
  )
  .join('\n')}
    if (workgroupUniformLoad(&raised) != 0u) {
${rows
  .map(
    (i) => `      let shrink${i} = exp(most${i} - top${i});
      most${i} = top${i};
      mass${i} *= shrink${i};
      if (lane % ${FOURS}u == 0u) { factors[${line(i)}] = shrink${i}; }`,
  )
  .join('\n')}
      workgroupBarrier();
${products.multiplySums('o')}
    }
${rows
  .map(
    (i) => `    let p${i} = select(vec4(0.0), exp(min(x${i} - most${i}, vec4(${RAISE}.0))), ${seen(i)});
    mass${i} += dot(p${i}, vec4(1.0));`,
  )
  .join('\n')}
${products.keepWeights('probabilities', (i) => `p${i}`)}
${products.addProducts('o', 'v')}
  }
  workgroupBarrier();
${rows.map((i) => `  found[${line(i)} * ${FOURS}u + lane % ${FOURS}u] = mass${i};`).join('\n')}
  workgroupBarrier();
${rows
  .map(
    (i) => `  mass${i} = 0.0;
  for (var c = 0u; c < ${FOURS}u; c++) { mass${i} += found[${line(i)} * ${FOURS}u + c]; }
  if (lane % ${FOURS}u == 0u) {
    factors[${line(i)}] = 1.0 / max(mass${i}, 1e-30);
    if (firstRow + ${line(i)} < rowsOfSegment) { lse[own[${line(i)}]] = most${i} + log(mass${i}); }
  }`,
  )
  .join('\n')}
  workgroupBarrier();
${products.storeSums('o', 'probabilities', 'v', ({ vector, line: row, column }) => `if (firstRow + ${row} < rowsOfSegment) { out[own[${row}] * ${products.vectors}u + ${column}] = ${vector} * factors[${row}]; }`)}`,
  });
});

/** Operations of a pair of row and key for a number of a head, weighed by how much slower they are than a product's. */
const FORWARD_WORK = 4 * 4;
const QUERY_GRADIENT_WORK = 4 * 6;
const KEY_GRADIENT_WORK = 4 * 8;

export function registerAttention(register: Register): void {
  const cache = new PlanCache();
  /** How a run computes: in float32 but for units that may round. */
  const keyOf = ({ gpu }: WebGpuBackend, { headDim }: AttentionShape): AttentionKey => {
    const memory = gpu.adapter.limits.maxComputeWorkgroupStorageSize;
    const { matrixUnit: unit } = gpu;
    return {
      headDim,
      unit: unit !== null && roundsProducts() && takesHeads(unit, headDim, memory) ? unit : null,
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
