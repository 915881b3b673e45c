import { describe, expect, it } from 'vitest';
import { gamingWarning } from '../../../main/trainer/monitor/gaming-rule.ts';
import type { Metrics } from '../../../main/trainer/protocol/trainer-events.ts';

const run = (reward: (i: number) => number, check: (i: number) => number): Metrics[] =>
  Array.from({ length: 60 }, (_, i) => ({ reward: reward(i), 'check/reference_overlap': check(i) }));
const warnings = (history: Metrics[]) => history.flatMap((_, i) => gamingWarning(history.slice(0, i + 1)) ?? []);

describe('gamingWarning', () => {
  it('warns once when the reward climbs and the check does not', () => {
    const found = warnings(
      run(
        (i) => 0.4 + i / 200,
        () => 0.2,
      ),
    );
    expect(found).toHaveLength(1);
    expect(found[0]?.remedy).toContain('change the reward, or raise beta');
    expect(found[0]?.message).toMatch(/risen from 0\.4\d+ to 0\.4\d+ while reference_overlap.*from 0\.200 to 0\.200/);
  });

  it('stays silent when both climb, when neither does, and where there is no check', () => {
    expect(
      warnings(
        run(
          (i) => 0.4 + i / 200,
          (i) => 0.2 + i / 400,
        ),
      ),
    ).toEqual([]);
    expect(
      warnings(
        run(
          () => 0.4,
          () => 0.2,
        ),
      ),
    ).toEqual([]);
    expect(warnings(Array.from({ length: 60 }, (_, i) => ({ reward: i })))).toEqual([]);
  });

  it('warns once where steps that reuse a generation have no rewards', () => {
    const sampled = run(
      (i) => 0.4 + i / 200,
      () => 0.2,
    );
    expect(warnings(sampled.flatMap((step) => [step, { loss: 0 }]))).toHaveLength(1);
  });

  it('warns again after a recovery', () => {
    const found = warnings(
      run(
        (i) => 0.4 + i / 200,
        (i) => (i > 30 && i < 45 ? 0.5 : 0.2),
      ),
    );
    expect(found).toHaveLength(2);
  });
});
