import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { estimateFromHistory, estimateRun } from '../../../main/trainer/local/estimate.ts';
import { tokenCost } from '../../../main/trainer/memory/activations.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { openTiny, tinySession } from '../run/tiny-run.ts';

const { model } = await openTiny();

describe('estimateRun', () => {
  it.each([
    ['grpo', { beta: 0.1, num_iterations: 2 }],
    ['sft', { method: 'sft' as const }],
  ])('counts the steps that are left and changes nothing: %s', (_, config) => {
    const session = tinySession({ model, config: { ...config, max_steps: 10 } });
    const weights = (): string => session.parameters.map(({ value }) => value.dataSync().join()).join();
    const [before, tensors] = [weights(), tf.memory().numTensors];
    const estimate = estimateRun(session, 4);
    expect(tf.memory().numTensors).toBe(tensors);
    expect(weights()).toBe(before);
    expect(estimate.secondsPerStep).toBeGreaterThan(0);
    expect(estimate.seconds).toBeCloseTo(6 * estimate.secondsPerStep, 9);
    expect(estimate.memoryBytes).toBeGreaterThan(process.memoryUsage().rss / 2);
    expect(estimate).not.toHaveProperty('secondsPerEvaluation');
    session.dispose();
  });

  it.each(['grpo', 'sft'] as const)('counts evaluations before, between and after the steps: %s', (method) => {
    const config = { method, max_steps: 10, eval_steps: 4, eval_records: 3 };
    const session = tinySession({ model, config, evalRecords: tinyDataset().test });
    const { secondsPerStep, secondsPerEvaluation: each = 0, seconds } = estimateRun(session, 0);
    expect(each).toBeGreaterThan(0);
    expect(seconds).toBeCloseTo(10 * secondsPerStep + 4 * each, 9);
    // What was measured comes first.
    expect(estimateRun(session, 5, { secondsPerEvaluation: 1000 }).seconds).toBeGreaterThan(2000);
    session.dispose();
    const history = [
      { step: 1, step_time: 1, 'time/evaluation': 20 },
      ...[2, 3, 4].map((step) => ({ step, step_time: 1 })),
    ];
    expect(estimateFromHistory(history, parseConfig(config), 4)).toMatchObject({ seconds: 6 + 2 * 20 });
  });
});

describe('an estimate with a warm-up', () => {
  it('has a pace of its own for its steps, until they are done', () => {
    const config = { max_steps: 10, warm_up_steps: 5, warm_up_batch_size: 2 };
    const session = tinySession({ model, config });
    const { secondsPerStep, warmUpSecondsPerStep: pace = Number.NaN, seconds } = estimateRun(session, 2);
    expect(pace).toBeGreaterThan(0);
    expect(seconds).toBeCloseTo(3 * pace + 10 * secondsPerStep, 9);
    expect(estimateRun(session, 5)).not.toHaveProperty('warmUpSecondsPerStep');
    session.dispose();
    const history = [7, 7, 7, 7, 7, 1, 1].map((step_time, i) => ({ step: i + 1, step_time }));
    expect(estimateFromHistory(history, parseConfig(config), 7)).toMatchObject({ secondsPerStep: 1, seconds: 8 });
    expect(estimateFromHistory(history.slice(0, 3), parseConfig(config), 3)).toBeNull();
    // Of a long history, early steps are no longer there.
    const shortened = history.filter(({ step }) => step > 3);
    expect(estimateFromHistory(shortened, parseConfig(config), 7)).toMatchObject({ secondsPerStep: 1 });
  });
});

describe('polychromic SFT', () => {
  it('counts the training pass over the samples', () => {
    // What the process holds changes by itself, by more than the pass at times.
    vi.spyOn(process.memoryUsage, 'rss').mockReturnValue(2 ** 27);
    onTestFinished(() => void vi.restoreAllMocks());
    const bytes = (num_generations: number): number => {
      const config = { method: 'polychromic-sft' as const, num_generations, per_device_train_batch_size: 2 };
      const session = tinySession({ model, config: { ...config, max_completion_length: 200 } });
      const { memoryBytes } = estimateRun(session, 0, { completionTokens: 200 });
      const cost = tokenCost(session.policy.model.config).plain;
      session.dispose();
      return memoryBytes / cost;
    };
    // 2 prompts with 62 more completions of about 200 tokens.
    expect(bytes(64) - bytes(2)).toBeGreaterThan(0.9 * 2 * 62 * 199);
  });
});

describe('estimateFromHistory', () => {
  it("is the median of a run's newest steps, and none before the first", () => {
    const history = [90, 1, 2, 3, 50].map((step_time, i) => ({ step: i + 1, step_time, memory_mb: 100 + i }));
    expect(estimateFromHistory(history, parseConfig({ max_steps: 25 }), 5)).toEqual({
      secondsPerStep: 3,
      seconds: 60,
      memoryBytes: 104 * 2 ** 20,
      gpuBytes: 0,
    });
    expect(estimateFromHistory([], parseConfig({ max_steps: 25 }), 0)).toBeNull();
  });

  it('counts the sampling of steps that share a generation', () => {
    const config = parseConfig({ max_steps: 20, num_iterations: 4 });
    const estimateOf = (times: number[]): number | undefined =>
      estimateFromHistory(
        times.map((step_time, i) => ({ step: i + 1, step_time })),
        config,
        0,
      )?.secondsPerStep;
    expect(estimateOf([9, 1, 1, 1, 9, 1, 1, 1, 9, 1, 1, 1, 9])).toBe(3);
    // Before the first four are through.
    expect(estimateOf([9, 1])).toBe(5);
  });

  it('reads a history of any length', () => {
    const history = Array.from({ length: 300_000 }, (_, i) => ({ step: i + 1, step_time: 1, memory_mb: i % 1000 }));
    expect(estimateFromHistory(history, parseConfig({ max_steps: 300_001 }), 300_000)?.memoryBytes).toBe(999 * 2 ** 20);
  });
});
