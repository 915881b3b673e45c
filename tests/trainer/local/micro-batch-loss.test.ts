import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { disposeModel, modelParameters } from '../../../main/model/model.ts';
import { computeAdvantages } from '../../../main/trainer/advantages/advantages.ts';
import { planBatches } from '../../../main/trainer/batching/batching.ts';
import type { ScoredGeneration } from '../../../main/trainer/batching/generation.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { microBatchLoss, rowLogps } from '../../../main/trainer/local/micro-batch-loss.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';
import { tinyModel } from '../../model/tiny.ts';

const SHAPE = { num_generations: 4, per_device_train_batch_size: 8, use_peft: false };
const COMPLETIONS = [
  [5, 6, 7, 2],
  [5, 2],
  [9, 9, 9, 9, 9],
  [5, 8, 2],
  [4, 2],
  [7, 7, 2],
  [8, 2],
  [6, 6, 6, 2],
];

const REWARDS = [1, 0.5, 0, 0.25, 0.1, 0.9, 0.3, 0.4];

function generation(config: ReturnType<typeof parseConfig>, given: readonly number[]): ScoredGeneration {
  const record = { id: 'r', prompt: '' };
  const rewards = [given];
  return {
    number: 0,
    prompts: [
      { record, promptIds: [3, 4, 5, 6], targetIds: [2] },
      { record, promptIds: [10, 11, 12], targetIds: [2] },
    ],
    completions: COMPLETIONS.map((ids) => ({ ids, terminated: ids.at(-1) === 2 })),
    records: [],
    texts: COMPLETIONS.map(String),
    failures: COMPLETIONS.map(() => null),
    rewards,
    result: computeAdvantages(rewards, config),
    oldLogps: null,
    refLogps: null,
    metrics: {},
  };
}

function gradientsOf(
  config: ReturnType<typeof parseConfig>,
  budget: number,
  checkpointing: boolean | null,
  rewards: readonly number[] = REWARDS,
) {
  const model = tinyModel();
  const policy = { model, adapter: null };
  const asked = { ...config, activation_memory_mb: budget, gradient_checkpointing: checkpointing };
  const context = { config: asked, policy, parameters: modelParameters(model), maxCompletionLength: 5 };
  const plan = planBatches(config, 2);
  const rows = generation(config, rewards);
  const refLogps = rowLogps(policy, plan, rows, asked).map((row) => row.map((x) => x - 0.1));
  const micro = { generation: 0, generate: true, iteration: 0, firstRow: 0, endRow: 8 };
  const result = microBatchLoss(context, plan, { ...rows, refLogps }, micro);
  const gradients = Object.values(result.gradients).flatMap((tensor) => Array.from(tensor.dataSync()));
  tf.dispose(result.gradients);
  disposeModel(model);
  return { loss: result.loss, metrics: result.metrics, gradients };
}

/** Elements of the tensors that kernels put out. */
function workOf(run: () => void): number {
  const engine = tf.engine();
  const original = engine.runKernel.bind(engine);
  let elements = 0;
  const spy = vi.spyOn(engine, 'runKernel').mockImplementation((...given) => {
    const out = original(...given);
    for (const { size } of [out].flat()) elements += size;
    return out;
  });
  run();
  spy.mockRestore();
  return elements;
}

function expectAlike(a: readonly number[], b: readonly number[]): void {
  const worst = Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? Number.NaN))));
  expect(worst).toBeLessThan(1e-6);
}

for (const backend of await openTestBackends()) {
  describe(`microBatchLoss in parts, ${backend.name}`, () => {
    const some = <Case>(cases: readonly Case[], first = 0): readonly Case[] =>
      backend.slow ? cases.slice(first, first + 1) : cases;

    // About 2 kB a token here: 1e-2 MiB hold a handful of tokens, so every row becomes a part.
    const parted: readonly [string, object][] = [
      ['dapo with KL', { beta: 0.04 }],
      ['bnpo, entropy quantile and bonus', { loss_type: 'bnpo', top_entropy_quantile: 0.5, entropy_coef: 0.01 }],
      [
        'grpo by sequence, truncated completions masked',
        { loss_type: 'grpo', importance_sampling_level: 'sequence', mask_truncated_completions: true },
      ],
    ];
    it.each(some(parted))('gives the numbers of a single pass: %s', async (_, fields) => {
      await backend.use();
      const config = parseConfig({ ...SHAPE, ...fields });
      const whole = gradientsOf(config, 1024, null);
      const parts = gradientsOf(config, 0.01, null);
      const saving = gradientsOf(config, 1024, true);
      expect(whole.gradients.some((value) => Math.abs(value) > 1e-4)).toBe(true);
      for (const other of [parts, saving]) {
        expect(other.loss).toBeCloseTo(whole.loss, 6);
        expectAlike(whole.gradients, other.gradients);
        for (const [name, value] of Object.entries(whole.metrics)) expect(other.metrics[name]).toBeCloseTo(value, 5);
      }
    });

    it.skipIf(backend.slow)(
      'needs no backward pass where no advantage has a gradient, and gives the same metrics',
      async () => {
        await backend.use();
        const config = parseConfig({ ...SHAPE, scale_rewards: 'none' });
        const backward = vi.spyOn(tf.engine(), 'gradients');
        const alive = gradientsOf(config, 1024, null);
        expect(backward).toHaveBeenCalledTimes(1);
        const dead = gradientsOf(
          config,
          1024,
          null,
          REWARDS.map(() => 0.25),
        );
        expect(backward).toHaveBeenCalledTimes(1);
        // KL has one whatever the advantages are.
        gradientsOf(
          parseConfig({ ...SHAPE, beta: 0.1 }),
          1024,
          null,
          REWARDS.map(() => 0.25),
        );
        expect(backward).toHaveBeenCalledTimes(2);
        backward.mockRestore();
        expect(Math.abs(dead.loss)).toBe(0);
        expect(dead.gradients).toHaveLength(alive.gradients.length);
        expect(dead.gradients.every((value) => value === 0)).toBe(true);
        expect(Object.keys(dead.metrics)).toEqual(Object.keys(alive.metrics));
        expect(dead.metrics.entropy).toBeCloseTo(alive.metrics.entropy ?? Number.NaN, 5);
      },
    );

    // The first group, and one row of the second, have no advantage.
    const HALF_DEAD = [0.5, 0.5, 0.5, 0.5, 0.1, 0.9, 0.5, 0.5];

    const withDeadRows: readonly [string, object][] = [
      ['dapo', {}],
      ['vespo, the tokens of highest entropy', { loss_type: 'vespo', top_entropy_quantile: 0.5 }],
      [
        'grpo by sequence, truncated completions masked',
        { loss_type: 'grpo', importance_sampling_level: 'sequence', mask_truncated_completions: true },
      ],
    ];
    it.each(some(withDeadRows, 1))(
      'gives the numbers of all rows while those without an advantage take no backward pass: %s',
      async (_, fields) => {
        await backend.use();
        const config = parseConfig({ ...SHAPE, scale_rewards: 'none', ...fields });
        // A bonus of next to nothing makes every row count.
        const whole = gradientsOf({ ...config, entropy_coef: 1e-30 }, 1024, null, HALF_DEAD);
        expect(whole.gradients.some((value) => Math.abs(value) > 1e-4)).toBe(true);
        for (const budget of [1024, 0.01]) {
          const found = gradientsOf(config, budget, null, HALF_DEAD);
          expect(found.loss).toBeCloseTo(whole.loss, 6);
          expectAlike(whole.gradients, found.gradients);
          for (const [name, value] of Object.entries(found.metrics))
            expect(value).toBeCloseTo(whole.metrics[name] ?? 0, 5);
        }
        expect(workOf(() => gradientsOf(config, 1024, null, HALF_DEAD))).toBeLessThan(
          0.8 * workOf(() => gradientsOf(config, 1024, null)),
        );
      },
    );

    it('keeps no tensor', async () => {
      await backend.use();
      const config = parseConfig(SHAPE);
      gradientsOf(config, 0.01, null);
      expect(tensorsLeft(() => gradientsOf(config, 0.01, null))).toBe(0);
      expect(tensorsLeft(() => gradientsOf(config, 1024, null, HALF_DEAD))).toBe(0);
    });

    // The first pass scores for the reference; the second is the loss's, forward and backward.
    const failures: readonly [number, true | null][] = [
      [0.1, null],
      [0.5, null],
      [0.9, null],
      [0.5, true],
      [0.8, true],
    ];
    it.each(some(failures, 4))(
      'gives them after memory ran out at %d of the work, and keeps no tensor (checkpointing %o)',
      async (way, saving) => {
        await backend.use();
        const config = parseConfig({ ...SHAPE, beta: 0.04 });
        const run = tf.engine().runKernel.bind(tf.engine());
        const ops = vi.spyOn(tf.engine(), 'runKernel');
        const whole = gradientsOf(config, 1024, saving);
        const names = ops.mock.calls.map(([name]) => name);
        // An Identity takes no memory.
        const failing = names.findIndex((name, i) => i >= way * names.length && name !== 'Identity');
        let calls = 0;
        ops.mockImplementation((...given) => {
          if (calls++ === failing) throw new BraidError('OUT_OF_MEMORY', 'no room');
          return run(...given);
        });
        let again: ReturnType<typeof gradientsOf> | undefined;
        const left = tensorsLeft(() => {
          again = gradientsOf(config, 1024, saving);
        });
        ops.mockRestore();
        expect(left).toBe(0);
        expect(calls).toBeGreaterThan(names.length);
        expect(again?.loss).toBeCloseTo(whole.loss, 6);
        expectAlike(whole.gradients, again?.gradients ?? []);
      },
    );
  });
}
