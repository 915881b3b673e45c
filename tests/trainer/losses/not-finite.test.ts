import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { computeAdvantages } from '../../../main/trainer/advantages/advantages.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { checkWeights } from '../../../main/trainer/local/finite-weights.ts';
import type { Session } from '../../../main/trainer/local/session.ts';
import { checkLoss, checkNorm, checkRewards } from '../../../main/trainer/losses/not-finite.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { openTiny, type TinyRunOptions, tinyRun } from '../run/tiny-run.ts';

const { model } = await openTiny();

const records = tinyDataset().train;
/** One group of two completions per record. */
function rollouts(rewards: readonly (readonly number[])[]) {
  const rows = rewards[0]?.length ?? 0;
  const prompts = records.slice(0, rows / 2).map((record) => ({ record, promptIds: [1], targetIds: [1] }));
  return { prompts, rewards, completions: Array.from({ length: rows }, () => ({ ids: [1], terminated: true })) };
}

function check(rewards: readonly (readonly number[])[], change: Partial<TrainConfig> = {}): void {
  const settings = {
    ...({ num_generations: 2, scale_rewards: 'group', multi_objective_aggregation: 'sum_then_normalize' } as const),
    reward_weights: null,
    ...change,
  };
  const names = rewards.map((_, k) => `part-${k}`);
  checkRewards(names, rollouts(rewards), computeAdvantages(rewards, settings), settings.reward_weights);
}

describe('checkRewards', () => {
  it('takes rewards that float32 can hold, and completions without one', () => {
    expect(() => check([[1e37, -1e37, 0, 0]])).not.toThrow();
    expect(() => check([[Number.NaN, 1, Number.NaN, Number.NaN]])).not.toThrow();
    expect(() => check([[Number.NaN, 1]], { scale_rewards: 'none' })).not.toThrow();
  });

  it('names the completion and the component of a sum beyond float32', () => {
    const id = records[1]?.id;
    const asked = () =>
      check([
        [0, 0, 0, 3e38],
        [0, 0, 0, 3.1e38],
      ]);
    expect(asked).toThrow(`The reward of completion 2 of record ${id}`);
    expect(asked).toThrow('part-1 gives 3.1e+38');
    expect(() => check([[0, 2, 0, 0]], { reward_weights: [3e38] })).toThrow('part-0 gives 2, times its weight 3e+38');
    // An infinity in a sum with its opposite.
    expect(() =>
      check(
        [
          [3e38, 1],
          [3e38, 0],
          [-3e38, 0],
        ],
        { reward_weights: [2, 1, 1] },
      ),
    ).toThrow('part-0');
  });

  it('sees a spread or an advantage that float32 cannot hold', () => {
    expect(() => check([[3e38, -3e38]])).toThrow('beyond float32');
    expect(() => check([[3e38, -3e38]], { scale_rewards: 'none' })).toThrow('its distance to the others of its group');
  });
});

describe('checkLoss and checkNorm', () => {
  it('name some of the records', () => {
    const some = records.slice(0, 5).map((record) => ({ record, promptIds: [1], targetIds: [1] }));
    expect(() => checkLoss(1, some)).not.toThrow();
    expect(() => checkLoss(Number.NaN, some)).toThrow(/The loss on the targets of \S+, \S+, \S+ and 2 more is NaN/);
    expect(() => checkNorm(null)).not.toThrow();
    expect(() => checkNorm(Number.POSITIVE_INFINITY)).toThrow('beyond float32');
    expect(() => checkNorm(Number.NaN)).toThrow('The norm of the gradient is not a number');
    const rewards = [[0, 0, 0, 2e30]];
    const config = { num_generations: 2, scale_rewards: 'none', reward_weights: null } as const;
    const result = computeAdvantages(rewards, { ...config, multi_objective_aggregation: 'sum_then_normalize' });
    const generation = { ...rollouts(rewards), ...{ number: 0, failures: [], texts: [], metrics: {}, result } };
    expect(() => checkNorm(Number.POSITIVE_INFINITY, ['wit'], generation)).toThrow(
      `completion 2 of record ${records[1]?.id} has an advantage of 1.0e+30 (wit 2e+30)`,
    );
  });
});

describe('checkWeights', () => {
  it.each([
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, 'an infinity'],
    [1e30, 'overflow when squared'],
  ])('names the tensor with %s', (bad, what) => {
    tf.tidy(() => {
      const parameters = [
        { name: 'good', value: tf.tensor([1, 2]) },
        { name: 'bad', value: tf.tensor([1, bad]) },
      ];
      expect(() => checkWeights(parameters.slice(0, 1))).not.toThrow();
      expect(() => checkWeights(parameters)).toThrow(`"bad" has`);
      expect(() => checkWeights(parameters)).toThrow(what);
    });
  });
});

/** A run that is expected to end with an error: its message, what it reported, and the checkpoints that it leaves. */
async function failing(options: Omit<TinyRunOptions, 'model'>) {
  const outputDir = temporaryFolder();
  const events: TrainerEvent[] = [];
  const before = tf.memory().numTensors;
  const error = await tinyRun({ model, outputDir, ...options, onEvent: (event) => void events.push(event) }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(tf.memory().numTensors).toBe(before);
  const checkpoints = existsSync(outputDir) ? readdirSync(outputDir).filter((name) => name.startsWith('ch')) : [];
  const message = error instanceof Error ? error.message : 'none';
  return { message, steps: events.filter(({ kind }) => kind === 'step').length, checkpoints };
}

/** A session whose weights break when this step is reported. */
function breakAfter(step: number, bad: number) {
  let parameters: Session['parameters'] = [];
  return {
    replace: (session: Session) => {
      parameters = session.parameters;
      return {};
    },
    onEvent: (event: TrainerEvent) => {
      const [first] = parameters;
      if (event.kind !== 'step' || event.step !== step || first === undefined) return;
      const { shape } = first.value;
      first.value.dispose();
      first.value = tf.keep(tf.fill(shape, bad));
    },
  };
}

describe('a run', () => {
  const full = { use_peft: false, max_grad_norm: 1, save_steps: 1, max_steps: 4, eval_steps: 0 } as const;

  it.each(['grpo', 'sft', 'polychromic-sft', 'polychromic-grpo'] as const)(
    'of %s with far too large a learning rate ends as failed, without a checkpoint of broken weights',
    async (method) => {
      const { message, checkpoints } = await failing({ config: { ...full, method, learning_rate: 1e38 } });
      expect(message).toMatch(/no longer finite: ".+" has (NaN|an infinity|numbers)/);
      expect(checkpoints).toEqual([]);
    },
  );

  it.each(['grpo', 'sft'] as const)(
    'of %s stops at weights of NaN and keeps the checkpoints before',
    async (method) => {
      const outputDir = temporaryFolder();
      const broken = breakAfter(2, Number.NaN);
      const config = { ...full, method, save_steps: 1, eval_steps: 0 };
      const events: TrainerEvent[] = [];
      const run = tinyRun({
        model,
        outputDir,
        config,
        replace: broken.replace,
        onEvent: (event) => {
          events.push(event);
          broken.onEvent(event);
        },
      });
      await expect(run).rejects.toThrow('"');
      expect(readdirSync(outputDir)).toEqual(['checkpoint-1']);
      expect(existsSync(join(outputDir, 'checkpoint-1', 'model.safetensors'))).toBe(true);
      expect(events.some(({ kind }) => kind === 'done')).toBe(false);
    },
  );

  it('stops in the step after, where no checkpoint was due, and in an evaluation', async () => {
    const later = { ...full, save_steps: 4 };
    for (const eval_steps of [0, 2]) {
      const broken = breakAfter(2, Number.NaN);
      const outputDir = temporaryFolder();
      const evalRecords = tinyDataset().train.slice(0, 2);
      const run = tinyRun({ model, outputDir, config: { ...later, eval_steps }, evalRecords, ...broken });
      await expect(run).rejects.toThrow("The model's logits after prompt 1 are not finite numbers");
      expect(readdirSync(outputDir)).toEqual([]);
    }
  });

  it('stops where an adapter broke', async () => {
    const broken = breakAfter(2, Number.POSITIVE_INFINITY);
    await expect(tinyRun({ model, config: { max_steps: 4, save_steps: 2 }, ...broken })).rejects.toThrow(
      /"base_model.+" has an infinity/,
    );
  });
});
