import { describe, expect, it, vi } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { estimateRun, type Known } from '../../../main/trainer/local/estimate.ts';
import type { Session } from '../../../main/trainer/local/session.ts';
import { openTiny, tinySession } from '../run/tiny-run.ts';

/** A decoding step takes a second a row; a training pass takes a millionth of a second a multiplication. */
vi.mock('../../../main/trainer/local/timing.ts', async (original) => ({
  ...(await original<object>()),
  timePasses: () => ({ training: ({ products }: { products: number }) => products * 1e-6, forward: () => 0 }),
  timeDecoding: (_: unknown, { prompts }: { prompts: readonly { readonly rows: number }[] }) =>
    prompts.reduce((sum, { rows }) => sum + rows, 0),
}));

const { model } = await openTiny();

/** Seconds of a step; unless `known` says otherwise, of completions of 11 tokens: ten decoding steps after the first. */
function secondsPerStep(
  config: Partial<TrainConfig>,
  known: Known = { completionTokens: 11 },
  replaced: (session: Session) => Session = (session) => session,
): number {
  const session = replaced(tinySession({ model, config }));
  const { secondsPerStep } = estimateRun(session, 0, known);
  session.dispose();
  return secondsPerStep;
}
/** Two prompts of four completions: eight rows. */
const config = { num_generations: 4, per_device_train_batch_size: 8, max_completion_length: 20 };
const SAMPLING = 10 * 8;

describe('estimateRun', () => {
  it('says what a step takes at the limit, if completions are expected to be much shorter', () => {
    const estimate = (completionTokens: number) => {
      const session = tinySession({ model, config });
      const { limitSecondsPerStep, memoryBytes } = estimateRun(session, 0, { completionTokens });
      session.dispose();
      return { limitSecondsPerStep, memoryBytes };
    };
    const [short, long] = [estimate(5), estimate(20)];
    // Twenty tokens: nineteen decoding steps of eight rows.
    expect(short.limitSecondsPerStep).toBeGreaterThan(19 * 8);
    expect(long.limitSecondsPerStep).toBeUndefined();
  });

  it('counts every round of dynamic sampling, its worst case', () => {
    const plain = secondsPerStep(config);
    expect(plain).toBeGreaterThan(SAMPLING);
    expect(secondsPerStep({ ...config, dynamic_sampling: 3 }) - plain).toBeCloseTo(3 * SAMPLING, 6);
  });

  it('counts all that PODS samples, but only what it trains on', () => {
    const training = secondsPerStep(config) - SAMPLING;
    // Again two prompts and eight rows to train on, but 32 that are sampled.
    const pods = secondsPerStep({ ...config, num_generations: 16, pods_update_size: 4 });
    expect(pods).toBeCloseTo(4 * SAMPLING + training, 6);
  });

  it('grows with the length of the completions that the policy samples', () => {
    const seconds = (completionTokens: number): number => secondsPerStep(config, { completionTokens });
    expect(seconds(20) - seconds(11)).toBeGreaterThan(9 * 8);
  });

  it('counts on the longest completions where a task has no target', () => {
    const untargeted = secondsPerStep(config, {}, (session) => ({
      ...session,
      task: { ...session.task, target: () => '' },
    }));
    expect(untargeted).toBe(secondsPerStep(config, { completionTokens: config.max_completion_length }));
    expect(untargeted).toBeGreaterThan(secondsPerStep(config, {}));
  });
});
