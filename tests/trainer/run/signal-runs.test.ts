/** Settings that spend rollouts where there is a signal: whole runs are deterministic, resume exactly and leave nothing behind. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { checkpointDigests, openTiny, type TinyRunOptions, tinyRun } from './tiny-run.ts';

const { model } = await openTiny();

interface Case {
  readonly name: string;
  readonly config: Partial<TrainConfig>;
  readonly records?: TinyRunOptions['records'];
  /** Where the run is stopped and resumed. */
  readonly stop: number;
  /** Whether a generation is in use there. */
  readonly holds: boolean;
}

/** What every setting of the cases is when it is off. */
const OFF: Partial<TrainConfig> = {
  scale_rewards: 'group',
  dynamic_sampling: 0,
  pods_update_size: null,
  greso_exploration: null,
  adarft_target_reward: null,
  use_adaptive_entropy: false,
  sync_ref_model: false,
  loss_type: 'dapo',
  off_policy_mask_threshold: null,
};

/** The reference is mixed with what the policy has become by then. */
const following: Partial<TrainConfig> = { sync_ref_model: true, use_peft: false, beta: 0.5 };

/** Of two difficulties. */
const mixed = [...tinyDataset({ words: 2 }).train, ...tinyDataset({ words: 3 }).train];

/** Two completions get the same reward more often than four. */
const cases: readonly Case[] = [
  { name: 'MaxRL', config: { scale_rewards: 'mean' }, stop: 3, holds: false },
  {
    name: 'MaxRL, a generation for two steps, two iterations, KL',
    config: { scale_rewards: 'mean', steps_per_generation: 2, num_iterations: 2, beta: 0.1 },
    stop: 3,
    holds: true,
  },
  { name: 'dynamic sampling', config: { dynamic_sampling: 2, num_generations: 2 }, stop: 3, holds: false },
  {
    name: 'dynamic sampling, a generation for two steps, two iterations, KL',
    config: {
      dynamic_sampling: 1,
      num_generations: 2,
      steps_per_generation: 2,
      num_iterations: 2,
      beta: 0.1,
    },
    stop: 3,
    holds: true,
  },
  {
    name: 'GRESO',
    config: { greso_exploration: 0.2, num_generations: 2, per_device_train_batch_size: 16, max_steps: 8 },
    stop: 5,
    holds: false,
  },
  {
    name: 'GRESO and dynamic sampling, a generation for two steps, two iterations, KL',
    config: {
      greso_exploration: 0.2,
      num_generations: 2,
      dynamic_sampling: 1,
      steps_per_generation: 2,
      num_iterations: 2,
      beta: 0.1,
      max_steps: 12,
    },
    stop: 7,
    holds: true,
  },
  {
    name: 'adaptive entropy',
    config: {
      use_adaptive_entropy: true,
      entropy_target: 10,
      entropy_coef_delta: 0.05,
      gradient_accumulation_steps: 2,
    },
    stop: 3,
    holds: false,
  },
  {
    name: 'adaptive entropy, a generation for two steps, two iterations, KL',
    config: {
      use_adaptive_entropy: true,
      entropy_target: 10,
      entropy_coef_delta: 0.05,
      steps_per_generation: 2,
      num_iterations: 2,
      beta: 0.1,
    },
    stop: 3,
    holds: true,
  },
  {
    name: 'a reference that follows the policy',
    config: { ...following, ref_model_sync_steps: 2 },
    stop: 3,
    holds: false,
  },
  {
    name: 'a reference that changes while a generation is in use',
    config: { ...following, ref_model_sync_steps: 3, num_iterations: 4 },
    stop: 3,
    holds: true,
  },
  {
    name: 'AdaRFT',
    config: { adarft_target_reward: -1, adarft_step_size: 1, max_steps: 8 },
    records: mixed,
    stop: 5,
    holds: false,
  },
  {
    name: 'AdaRFT, a generation for two steps, two iterations, KL',
    config: {
      adarft_target_reward: -1,
      adarft_step_size: 1,
      steps_per_generation: 2,
      num_iterations: 2,
      beta: 0.1,
      max_steps: 12,
    },
    records: mixed,
    stop: 7,
    holds: true,
  },
  {
    name: 'VESPO, a generation for two steps, two iterations',
    config: { loss_type: 'vespo', steps_per_generation: 2, num_iterations: 2, learning_rate: 0.01 },
    stop: 3,
    holds: true,
  },
  {
    // The policy moves within a generation only, so without reuse nothing would be masked.
    name: 'the off-policy mask, a generation for two steps, two iterations',
    config: {
      off_policy_mask_threshold: 1e-6,
      steps_per_generation: 2,
      num_iterations: 2,
      learning_rate: 0.01,
    },
    stop: 3,
    holds: true,
  },
  {
    name: 'PODS',
    config: { num_generations: 8, pods_update_size: 4, per_device_train_batch_size: 8 },
    stop: 3,
    holds: false,
  },
  {
    name: 'PODS and dynamic sampling, a generation for two steps, two iterations, KL',
    config: {
      num_generations: 3,
      pods_update_size: 2,
      per_device_train_batch_size: 18,
      dynamic_sampling: 1,
      steps_per_generation: 2,
      num_iterations: 2,
      beta: 0.1,
    },
    stop: 3,
    holds: true,
  },
];

describe.each(cases)('a run with $name', ({ config, records, stop, holds }) => {
  const shared = { ...(records && { records }) };
  const digests = (checkpoint: string) => checkpointDigests(checkpoint, config.use_peft ?? true);

  it('differs from one without, gives the same numbers again, and leaves no tensor behind', async () => {
    const before = tf.memory().numTensors;
    const first = await tinyRun({ ...shared, model, config });
    expect(tf.memory().numTensors).toBe(before);
    const second = await tinyRun({ ...shared, model, config });
    expect(second.steps).toEqual(first.steps);
    expect(second.samples).toEqual(first.samples);
    expect(digests(second.checkpoint)).toEqual(digests(first.checkpoint));
    const plain = await tinyRun({ ...shared, model, config: { ...config, ...OFF } });
    expect(digests(plain.checkpoint)).not.toEqual(digests(first.checkpoint));
  });

  it(`gives the same numbers when stopped at step ${stop} and resumed`, async () => {
    const whole = await tinyRun({ ...shared, model, config });
    const stopped = await tinyRun({ ...shared, model, config, stopAfter: stop });
    const saved = JSON.parse(readFileSync(join(stopped.checkpoint, 'rng.json'), 'utf8'));
    expect(saved.generation !== null).toBe(holds);
    const drawsMore = config.dynamic_sampling !== undefined || config.greso_exploration !== undefined;
    if (drawsMore) expect(saved.prompts.extra).toBeGreaterThan(0);
    expect(saved.prompts.deadInRow.length > 0).toBe(config.greso_exploration !== undefined);
    expect(saved.entropy !== null).toBe(config.use_adaptive_entropy === true);
    const resumed = await tinyRun({ ...shared, model, config, resumeFrom: stopped.checkpoint });
    expect([...stopped.steps, ...resumed.steps]).toEqual(whole.steps);
    expect([...stopped.samples, ...resumed.samples]).toEqual(whole.samples);
    expect(digests(resumed.checkpoint)).toEqual(digests(whole.checkpoint));
  });
});

describe('dynamic sampling', () => {
  it('samples other prompts in place of dead groups, and reports how many', async () => {
    const config = { max_steps: 12, per_device_train_batch_size: 16 };
    const [plain, dynamic] = [
      await tinyRun({ model, config }),
      await tinyRun({ model, config: { ...config, dynamic_sampling: 3 } }),
    ];
    const sum = (steps: typeof plain.steps, name: string): number =>
      steps.reduce((total, metrics) => total + (metrics[name] ?? 0), 0);
    expect(sum(plain.steps, 'groups/dead')).toBeGreaterThan(0.5);
    expect(sum(dynamic.steps, 'groups/dead')).toBeLessThan(sum(plain.steps, 'groups/dead') / 2);
    let taken = 0;
    for (const metrics of dynamic.steps) {
      taken += 4 + (metrics['dynamic_sampling/resampled'] ?? Number.NaN);
      expect(metrics.epoch).toBeCloseTo(taken / 12, 9);
      expect(metrics['dynamic_sampling/dead']).toBe(4 * (metrics['groups/dead'] ?? Number.NaN));
    }
    expect(plain.steps[0]).not.toHaveProperty(['dynamic_sampling/dead']);
    // The outcomes of all groups that were sampled, those thrown away included, and of no others.
    const groups = dynamic.events.flatMap((event) => (event.kind === 'step' ? [event.groups ?? []] : []));
    expect(groups.map((of) => of.length)).toEqual(
      dynamic.steps.map((metrics) => 4 + (metrics['dynamic_sampling/resampled'] ?? Number.NaN)),
    );
    expect(groups.flat().filter(({ outcome }) => outcome === 'teaches').length).toBe(
      sum(dynamic.steps, 'groups/dead') * -4 + 4 * 12,
    );
    // What was thrown away was sampled, too.
    expect(dynamic.steps.at(-1)?.num_tokens).toBeGreaterThan(plain.steps.at(-1)?.num_tokens ?? 0);
  });

  it('resumes from a checkpoint that is older than these settings', async () => {
    const config = { num_iterations: 2 };
    const whole = await tinyRun({ model, config });
    const stopped = await tinyRun({ model, config, stopAfter: 3 });
    const file = join(stopped.checkpoint, 'rng.json');
    const { prompts, entropy, ...state } = JSON.parse(readFileSync(file, 'utf8'));
    expect(entropy).toBeNull();
    expect(prompts).toEqual({ version: 1, extra: 0, deadInRow: [], targetDifficulty: null });
    delete state.generation.records;
    rmSync(join(stopped.checkpoint, 'checksums.sha256'));
    writeFileSync(file, JSON.stringify(state));
    const resumed = await tinyRun({ model, config, resumeFrom: stopped.checkpoint });
    expect(resumed.steps).toEqual(whole.steps.slice(3));
  });
});

describe('PODS', () => {
  it('samples whole groups, and trains on the part of each whose rewards vary most', async () => {
    const config = { num_generations: 8, per_device_train_batch_size: 12, pods_update_size: 3 };
    const run = await tinyRun({ model, config });
    for (const metrics of run.steps) {
      expect(metrics['pods/trained_std']).toBeGreaterThan(metrics['pods/sampled_std'] ?? Number.NaN);
      // Four prompts a generation, of twelve.
      expect(metrics.epoch).toBeCloseTo(((run.steps.indexOf(metrics) + 1) * 4) / 12, 9);
    }
    const [first] = run.samples;
    const stored = first?.kind === 'samples' ? first.samples : [];
    expect(stored.map(({ group, index }) => 3 * group + index)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    // Sampled were eight of each of four prompts: the trained ones alone have fewer tokens.
    const trained = stored.reduce((sum, { length }) => sum + length, 0);
    expect(run.steps[0]?.num_tokens).toBeGreaterThan(2 * trained);
    for (const group of [0, 1, 2, 3]) {
      const advantages = stored.filter((sample) => sample.group === group).map(({ advantage }) => advantage);
      expect(advantages.reduce((sum, advantage) => sum + advantage, 0)).toBeCloseTo(0, 5);
    }
  });

  it('is plain GRPO where it trains on all completions', async () => {
    const plain = await tinyRun({ model, config: {} });
    const all = await tinyRun({ model, config: { pods_update_size: 4 } });
    expect(checkpointDigests(all.checkpoint, true)).toEqual(checkpointDigests(plain.checkpoint, true));
  });
});

describe('GRESO', () => {
  it('skips prompts whose groups were dead, and reports how many', async () => {
    const config = { greso_exploration: 0.2, num_generations: 2, per_device_train_batch_size: 16, max_steps: 8 };
    const { steps } = await tinyRun({ model, config });
    let passed = 0;
    for (const metrics of steps) {
      passed += 8 + (metrics['greso/skipped'] ?? Number.NaN);
      expect(metrics.epoch).toBeCloseTo(passed / 12, 9);
      expect(metrics['greso/dead_prompts']).toBeLessThanOrEqual(1);
    }
    // In the first epoch nothing is known yet.
    expect(steps[0]?.['greso/skipped']).toBe(0);
    expect(passed).toBeGreaterThan(64);
  });
});

describe('adaptive entropy', () => {
  it('raises the coefficient while the entropy is at most the target, from the second step on', async () => {
    const config = { use_adaptive_entropy: true, entropy_coef_delta: 0.1, entropy_coef_max: 0.25 };
    const low = await tinyRun({ model, config: { ...config, entropy_target: 10 } });
    const coefficients = low.steps.map(({ entropy_coef }) => Number((entropy_coef ?? Number.NaN).toFixed(9)));
    expect(coefficients).toEqual([0.1, 0.2, 0.25, 0.25, 0.25, 0.25]);
    // The first step has no bonus yet.
    expect(low.steps.map((metrics) => 'policy_loss' in metrics)).toEqual([false, true, true, true, true, true]);
    const high = await tinyRun({ model, config: { ...config, entropy_target: 0.001, entropy_coef: 0.15 } });
    expect(high.steps.map(({ entropy_coef }) => Number((entropy_coef ?? Number.NaN).toFixed(9)))).toEqual([
      0.05, 0, 0, 0, 0, 0,
    ]);
    const plain = await tinyRun({ model, config: {} });
    expect(checkpointDigests(high.checkpoint, true)).toEqual(checkpointDigests(plain.checkpoint, true));
    expect(low.steps.at(-1)?.entropy).toBeGreaterThan(plain.steps.at(-1)?.entropy ?? Number.NaN);
  });
});

describe('a reference that follows the policy', () => {
  it('is the policy after a step with alpha 1, so that the next KL is 0', async () => {
    const config = { ...following, ref_model_sync_steps: 1, ref_model_mixup_alpha: 1 };
    const { steps, checkpoint } = await tinyRun({ model, config });
    for (const { kl } of steps) expect(kl).toBe(0);
    const fixed = await tinyRun({ model, config: { ...config, sync_ref_model: false } });
    expect(fixed.steps.at(-1)?.kl).toBeGreaterThan(0);
    expect(existsSync(join(checkpoint, 'reference_model.safetensors'))).toBe(true);
    expect(existsSync(join(fixed.checkpoint, 'reference_model.safetensors'))).toBe(false);
  });
});
