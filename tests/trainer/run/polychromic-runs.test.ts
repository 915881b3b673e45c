import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { parseReplyRecord } from '../../../main/tasks/reply/record.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { tinyWords } from '../../tiny-model.ts';
import { openTiny, type TinyRun, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();

/** Posts of one word whose replies are two words of a small stock. */
const records = Array.from({ length: 6 }, (_, i) =>
  parseReplyRecord({
    id: `r${i}`,
    post: tinyWords[i] ?? '',
    prompt: `<a> ${tinyWords[i]} <out>`,
    reply: `${tinyWords[i % 3]} ${tinyWords[(i + 1) % 3]}`,
    engagement: { likes: i, reposts: 0, replies: 0 },
  }),
);
const common: Partial<TrainConfig> = {
  task: 'reply',
  use_peft: false,
  learning_rate: 0.01,
  lr_scheduler_type: 'constant',
  num_generations: 4,
  max_steps: 30,
};
const mean = (run: TinyRun, name: string, from: number, to?: number): number => {
  const values = run.steps.slice(from, to).map((metrics) => metrics[name] ?? Number.NaN);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
};

describe('polychromic-sft', () => {
  it('fits the targets, with more diverse samples for a larger lambda', async () => {
    const run = (polychromic_lambda: number) =>
      tinyRun({ model, records, config: { ...common, method: 'polychromic-sft', polychromic_lambda } });
    const [plain, diverse] = [await run(0), await run(4)];
    expect(mean(plain, 'polychromic/quality_loss', -5)).toBeLessThan(
      0.7 * mean(plain, 'polychromic/quality_loss', 0, 3),
    );
    expect(mean(diverse, 'polychromic/diversity', -8)).toBeGreaterThan(mean(plain, 'polychromic/diversity', -8) + 0.1);
    const last = diverse.steps.at(-1);
    expect(last?.loss).toBeCloseTo(
      (last?.['polychromic/quality_loss'] ?? 0) - 4 * (last?.['polychromic/diversity'] ?? 0),
      5,
    );
  });

  it('is plain sft when lambda is 0', async () => {
    const config = { ...common, max_steps: 4 };
    const plain = await tinyRun({ model, records, config: { ...config, method: 'sft' } });
    const zero = await tinyRun({
      model,
      records,
      config: { ...config, method: 'polychromic-sft', polychromic_lambda: 0 },
    });
    expect(zero.steps.map(({ grad_norm }) => grad_norm)).toEqual(plain.steps.map(({ grad_norm }) => grad_norm));
  });

  it('gives the same numbers again, resumed or not, in parts or not, and leaves no tensor behind', async () => {
    const config: Partial<TrainConfig> = { ...common, method: 'polychromic-sft', max_steps: 5 };
    const before = tf.memory().numTensors;
    const whole = await tinyRun({ model, records, config });
    expect(tf.memory().numTensors).toBe(before);
    const stopped = await tinyRun({ model, records, config, stopAfter: 2 });
    const resumed = await tinyRun({ model, records, config, resumeFrom: stopped.checkpoint });
    expect(resumed.steps).toEqual(whole.steps.slice(2));
  });
});

describe('polychromic-grpo', () => {
  it('keeps completions more diverse than grpo does at the same reward', async () => {
    const run = (method: 'grpo' | 'polychromic-grpo') =>
      tinyRun({
        model,
        records,
        config: {
          ...common,
          method,
          num_generations: 8,
          per_device_train_batch_size: 32,
          max_steps: 60,
          learning_rate: 0.02,
          reward_weights: [1, 0, 0, 0, 0, 0],
        },
      });
    const [plain, diverse] = [await run('grpo'), await run('polychromic-grpo')];
    expect(mean(plain, 'reward', -5)).toBeGreaterThan(mean(plain, 'reward', 0, 3) + 0.02);
    expect(mean(diverse, 'reward', -5)).toBeGreaterThan(mean(diverse, 'reward', 0, 3) + 0.02);
    expect(mean(diverse, 'completions/diversity', -8)).toBeGreaterThan(mean(plain, 'completions/diversity', -8) + 0.05);
    expect(diverse.steps[0]).toHaveProperty(['polychromic/set_score']);
    expect(diverse.steps[0]).toHaveProperty(['check/reference_overlap']);
    expect(diverse.steps[0]).toHaveProperty(['rewards/engagement/mean']);
  });

  it('resumes with the numbers that it would have had', async () => {
    const config: Partial<TrainConfig> = { ...common, method: 'polychromic-grpo', num_iterations: 2, max_steps: 5 };
    const whole = await tinyRun({ model, records, config });
    const stopped = await tinyRun({ model, records, config, stopAfter: 3 });
    const resumed = await tinyRun({ model, records, config, resumeFrom: stopped.checkpoint });
    expect(resumed.steps).toEqual(whole.steps.slice(3));
  });
});

describe('the configuration of polychromic methods', () => {
  it('rejects sampling filters that would bias the gradient', () => {
    expect(() => parseConfig({ method: 'polychromic-sft', top_p: 0.9, top_k: 5 })).toThrow(
      'expected no sampling filter with polychromic-sft, got top_p 0.9, top_k 5',
    );
  });

  it('rejects sets larger than the group', () => {
    expect(() => parseConfig({ method: 'polychromic-grpo', num_generations: 4, polychromic_set_size: 5 })).toThrow(
      'expected polychromic_set_size (5) to be at most num_generations (4)',
    );
  });
});
