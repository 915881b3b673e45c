import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { setComputeDtype, whyNoBfloat16 } from '../../../main/tensor/compute-dtype.ts';
import { NATIVE_BACKEND } from '../../../main/tensor/native/load.ts';
import { closeNativeBackend, openNativeBackend } from '../../../main/tensor/native/open.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { nativeUnderTest } from '../../native-under-test.ts';
import { checkpointDigests, openTiny, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();
const opened = nativeUnderTest === null ? null : await openNativeBackend(2, nativeUnderTest);
const missing = opened?.ok === true ? whyNoBfloat16() : null;
if (missing !== null) console.warn(`skipped: ${missing.why}`);

afterAll(async () => {
  setComputeDtype('float32');
  if (opened?.ok === true) closeNativeBackend();
  await tf.setBackend('wasm');
});

const config: Partial<TrainConfig> = { compute_dtype: 'bfloat16', max_steps: 4, beta: 0.1, num_iterations: 2 };

describe('a run in bfloat16', () => {
  it('is refused on a backend without it, before its first step', async () => {
    await tf.setBackend('wasm');
    await expect(tinyRun({ model, config })).rejects.toMatchObject({ code: 'NO_BFLOAT16' });
  });

  it.runIf(opened?.ok === true && missing === null).each([
    ['an adapter', { use_peft: true }],
    ['all weights', { use_peft: false }],
  ])('of %s leaves the same checkpoint twice, and when it is stopped and resumed', async (_, trained) => {
    await tf.setBackend(NATIVE_BACKEND);
    const settings = { ...config, ...trained };
    const whole = await tinyRun({ model, config: settings });
    const again = await tinyRun({ model, config: settings });
    expect(checkpointDigests(again.checkpoint, settings.use_peft)).toEqual(
      checkpointDigests(whole.checkpoint, settings.use_peft),
    );
    const stopped = await tinyRun({ model, config: settings, stopAfter: 2 });
    const resumed = await tinyRun({ model, config: settings, resumeFrom: stopped.checkpoint });
    expect(checkpointDigests(resumed.checkpoint, settings.use_peft)).toEqual(
      checkpointDigests(whole.checkpoint, settings.use_peft),
    );
    const exact = await tinyRun({ model, config: { ...settings, compute_dtype: 'float32' } });
    expect(exact.steps).not.toEqual(whole.steps);
  });
});
