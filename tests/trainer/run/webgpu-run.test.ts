/** Whole runs on a GPU, by Chromium's software driver where there is no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { describeFailure } from '../../../main/trainer/memory/failure.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { opened, openGpuForTest } from '../../tensor/webgpu/open.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { checkpointDigests, openTiny, tinyRun } from './tiny-run.ts';

const folder = temporaryFolderOfFile();
const { model } = await openTiny();
let gpu = await openGpuForTest();

describe.runIf(gpu !== null)('a run on webgpu', () => {
  const config: Partial<TrainConfig> = {
    max_steps: 4,
    save_steps: 2,
    gradient_accumulation_steps: 2,
    beta: 0.1,
    num_iterations: 2,
  };
  let whole: Awaited<ReturnType<typeof tinyRun>>;
  beforeAll(async () => {
    await tf.setBackend(WEBGPU_BACKEND);
    whole = await tinyRun({ model, config, outputDir: join(folder, 'whole') });
  });
  afterAll(() => closeWebGpuBackend(opened(gpu)));

  it('has the completions and, to rounding, the losses of the same run on wasm', async () => {
    await tf.setBackend('wasm');
    const theirs = await tinyRun({ model, config });
    await tf.setBackend(WEBGPU_BACKEND);
    const completions = ({ samples }: typeof whole): unknown =>
      samples.map((event) => event.kind === 'samples' && event.samples.map(({ completion }) => completion));
    expect(completions(whole)).toEqual(completions(theirs));
    whole.steps.forEach((metrics, step) => {
      for (const [name, value] of Object.entries(metrics)) {
        const expected = theirs.steps[step]?.[name] ?? Number.NaN;
        expect(Math.abs(value - expected), `${name} of step ${step + 1}`).toBeLessThanOrEqual(
          1e-5 + 2e-4 * Math.abs(expected),
        );
      }
    });
  });

  it('leaves the same checkpoint, byte for byte, when it is stopped and resumed', async () => {
    const stopped = await tinyRun({ model, config, stopAfter: 3 });
    const resumed = await tinyRun({ model, config, resumeFrom: stopped.checkpoint });
    expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(whole.checkpoint, true));
    expect(resumed.steps).toEqual(whole.steps.slice(3));
  });

  it('trains on frozen weights in NF4, and keeps to them when it is resumed', async () => {
    const packed: Partial<TrainConfig> = { ...config, max_steps: 2, base_weights: 'nf4' };
    const unbroken = await tinyRun({ model, config: packed });
    const stopped = await tinyRun({ model, config: packed, stopAfter: 1 });
    const { memory } = JSON.parse(readFileSync(join(stopped.checkpoint, 'rng.json'), 'utf8'));
    expect(memory).toMatchObject({ precision: 'nf4' });
    const resumed = await tinyRun({ model, config: packed, resumeFrom: stopped.checkpoint });
    expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(unbroken.checkpoint, true));
    // And to others than those in float32, which give other probabilities from the first step on.
    expect(unbroken.steps[0]?.entropy).toBeGreaterThan(0);
    expect(unbroken.steps[0]?.entropy).not.toBe(whole.steps[0]?.entropy);
  });

  it('keeps its number of buffers, their bytes and its tensors over 60 steps', async () => {
    const { gpu: device } = opened(gpu);
    const before = tf.memory().numTensors;
    const seen: string[] = [];
    await tinyRun({
      model,
      config: { max_steps: 60, per_device_train_batch_size: 2, num_generations: 2 },
      // One prompt of two texts of one word: short completions, as each token takes a dispatch for each part of a layer.
      records: tinyDataset({ words: 1 }).train,
      onEvent: ({ kind }) => {
        if (kind === 'step') {
          const { buffers, bytes } = device.counts;
          seen.push(`${buffers} buffers of ${bytes} bytes, ${tf.memory().numTensors} tensors`);
        }
      },
    });
    // Lengths vary, so the pool fills for a while.
    expect(new Set(seen.slice(45)).size).toBe(1);
    expect(tf.memory().numTensors).toBe(before);
  }, 900_000);

  it('ends when the device is lost, and resumes on the next one with the numbers of an unbroken run', async () => {
    const outputDir = join(folder, 'broken');
    const broken = tinyRun({
      model,
      config,
      outputDir,
      onEvent: (event) => {
        if (event.kind === 'step' && event.step === 3) opened(gpu).gpu.lose();
      },
    });
    const error = await broken.catch((thrown: unknown) => thrown);
    expect(describeFailure(error)).toMatchObject({
      code: 'GPU_LOST',
      message: expect.stringContaining('went away'),
      remedy: expect.stringContaining('Resume the run from its last checkpoint'),
    });
    // Every later read fails with the same reason.
    expect(() => tf.sum(tf.fill([100], 1)).dataSync()).toThrow(expect.objectContaining({ code: 'GPU_LOST' }));
    await closeWebGpuBackend(opened(gpu));
    gpu = await openGpuForTest();
    const resumed = await tinyRun({ model, config, resumeFrom: join(outputDir, 'checkpoint-2') });
    expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(whole.checkpoint, true));
  });
});
