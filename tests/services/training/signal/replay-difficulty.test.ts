import { describe, expect, it } from 'vitest';
import { replayDifficulty } from '../../../../main/services/training/signal/replay-difficulty.ts';
import type { SignalStep } from '../../../../main/services/training/signal/signal-step.ts';

/** Two records of 2 words, which teach, and two of 10, which are dead. */
const words = new Map([
  ['a', 2],
  ['b', 2],
  ['c', 10],
  ['d', 10],
]);
/** A training pass over groups that teach nothing takes as long. */
const ALWAYS_ONE = () => 1;
const rule = { targetReward: 0.5, sensitivity: 2, stepSize: 4 };

/** A generation of these records; `reward`: of the short ones. */
function step(at: number, records: string, reward = 0.5): SignalStep {
  const groups = [...records].map((recordId) =>
    recordId === 'a' || recordId === 'b'
      ? { recordId, outcome: 'teaches' as const, reward }
      : { recordId, outcome: 'dead' as const, reward: 0 },
  );
  return { step: at, groups, sampling: 2, training: 4, total: 7 };
}

describe('replayDifficulty', () => {
  it('stays at the shortest while their reward is the target', () => {
    const steps = [step(1, 'ac'), step(2, 'bd'), step(3, 'ad')];
    // Each step: 1 s besides, and 6 s for 2 words instead of a mean of 6.
    const replayed = replayDifficulty(steps, words, ALWAYS_ONE, rule);
    expect(replayed).toMatchObject({ teaching: 6 });
    expect(replayed).toMatchObject({ seconds: expect.closeTo(3 * (1 + 6 * (2 / 6)), 9) });
  });

  it('counts groups that teach nothing as a forward pass, where a run trains so', () => {
    const cost = (teaches: number): number => teaches + (1 - teaches) / 3;
    // Both groups teach, where one of the run's two did: its 4 s of training were two thirds of a whole pass.
    const replayed = replayDifficulty([step(1, 'ac'), step(2, 'bd'), step(3, 'ad')], words, cost, rule);
    expect(replayed).toMatchObject({ seconds: expect.closeTo(3 * (1 + (2 + 4 * 1.5) * (2 / 6)), 9) });
  });

  it('moves to longer ones when the reward is above the target, and back', () => {
    const steps = Array.from({ length: 3 }, (_, i) => step(i + 1, 'ac', 1));
    // 2, then 2 + 4 tanh(1) = 5.05, still nearest to 2; then 8.09, nearest to 10: of two groups neither teaches.
    expect(replayDifficulty(steps, words, ALWAYS_ONE, rule)).toMatchObject({ teaching: 4 });
    const longer = Array.from({ length: 4 }, (_, i) => step(i + 1, 'ac', 1));
    // Reward 0 there: 8.09 - 4 tanh(1) = 5.05.
    expect(replayDifficulty(longer, words, ALWAYS_ONE, rule)).toMatchObject({ teaching: 6 });
  });

  it('looks at the generations around one only', () => {
    // The short records teach in the first ten generations only; the target stays there.
    const steps = Array.from({ length: 40 }, (_, i) => {
      const { groups, ...rest } = step(i + 1, 'ac');
      return { ...rest, groups: i < 10 ? groups : groups.map((group) => ({ ...group, outcome: 'dead' as const })) };
    });
    const { teaching } = replayDifficulty(steps, words, ALWAYS_ONE, rule) as { teaching: number };
    expect(teaching).toBeGreaterThan(15);
    expect(teaching).toBeLessThan(25);
  });

  it('says why it knows nothing', () => {
    expect(replayDifficulty([step(1, 'ac')], null, ALWAYS_ONE, rule)).toBe('no_records');
    expect(replayDifficulty([step(1, 'ax')], words, ALWAYS_ONE, rule)).toBe('no_records');
    expect(replayDifficulty([step(1, 'ab')], new Map([...'ab'].map((id) => [id, 2])), ALWAYS_ONE, rule)).toBe(
      'one_length',
    );
    // The target starts at 2 words, and only those of 10 were sampled.
    expect(replayDifficulty([step(1, 'cd')], words, ALWAYS_ONE, rule)).toBe('not_sampled');
  });
});
