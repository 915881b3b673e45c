import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { argmax, draw, processors, type SamplingOptions } from '../../../main/model/sampler.ts';
import { randomStream, uniform } from '../../../main/random.ts';
import { penaliseInPlace, sampleFiltered, sampleRows } from '../../../main/tensor/ops/sample.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { opened, openGpuForTest } from './open.ts';

const ROWS = 64;
const VOCABULARY = 300;
const PLAIN: SamplingOptions = { temperature: 1, topK: 0, topP: 1, minP: null, repetitionPenalty: 1 };

const gpu = await openGpuForTest();

/** Logits like a model's; with few levels, many are equal. */
function logitsOf(levels: number | null): Float32Array {
  const { next } = randomStream(5);
  const one = (): number => 6 * (next() + next() + next() - 1.5);
  return Float32Array.from({ length: ROWS * VOCABULARY }, () => (levels === null ? one() : Math.round(one()) / levels));
}

const uniforms = Array.from({ length: ROWS }, (_, row) => uniform(7, row));
/** Of each row the tokens so far, some of them several times. */
const seen = Array.from({ length: ROWS }, (_, row) => [row, (3 * row) % VOCABULARY, row, 17]);

function onTheHost(values: Float32Array, options: SamplingOptions): number[] {
  return uniforms.map((u, row) => {
    const own = values.slice(row * VOCABULARY, (row + 1) * VOCABULARY);
    for (const step of processors(options)) step(own, seen[row] ?? []);
    return options.temperature === 0 ? argmax(own) : draw(own, u);
  });
}

function onTheGpu(values: Float32Array, options: SamplingOptions): number[] {
  return tf.tidy(() => {
    const logits = tf.tensor2d(values, [ROWS, VOCABULARY]);
    const places = seen.flatMap((ids, row) => [...new Set(ids)].map((id) => row * VOCABULARY + id));
    if (options.repetitionPenalty !== 1)
      penaliseInPlace(logits, tf.tensor1d(places, 'int32'), options.repetitionPenalty);
    const numbers = tf.tensor1d(uniforms);
    const ids =
      options.temperature === 0
        ? sampleRows(logits, numbers, 0)
        : sampleFiltered(logits, numbers, { ...options, minP: options.minP ?? 0 });
    return [...ids.dataSync()];
  });
}

describe.runIf(gpu !== null)('filtered sampling on webgpu', () => {
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  const cases: readonly Partial<SamplingOptions>[] = [
    { topK: 1 },
    { topK: 20 },
    { topK: VOCABULARY + 5 },
    { topP: 0.9 },
    { topP: 0.05 },
    { topP: 1e-9 },
    { minP: 0.1 },
    { topK: 40, topP: 0.8, minP: 0.02, temperature: 0.7 },
    { repetitionPenalty: 1.5, temperature: 1.3, topP: 0.95 },
    { repetitionPenalty: 0.7, topK: 10 },
    { repetitionPenalty: 1.3, temperature: 0 },
  ];
  for (const levels of [null, 1])
    it.each(cases)(
      `draws the host's tokens${levels === null ? '' : ', where many logits are equal'}, with %o`,
      (options) => {
        const values = logitsOf(levels);
        const all = { ...PLAIN, ...options };
        expect(onTheGpu(values, all)).toEqual(onTheHost(values, all));
      },
    );

  it('never takes what was filtered before', () => {
    const values = logitsOf(null).map((x, i) => (i % 3 === 0 ? -Infinity : x));
    const ids = onTheGpu(values, { ...PLAIN, topP: 0.99 });
    expect(ids).toEqual(onTheHost(values, { ...PLAIN, topP: 0.99 }));
  });
});
