import { describe, expect, it } from 'vitest';
import type { SettingRow } from '../../../main/api/contract/index.ts';
import { scaleOf } from '../../../renderer/experiments/ScoreStrip.tsx';

const row = (mean: number | null, ...scores: readonly number[]) =>
  ({ mean, trials: scores.map((value) => ({ score: { value } })) }) as unknown as SettingRow;

describe('scaleOf', () => {
  it('has room around all scores, within 0 to 1 where scores are shares', () => {
    const [low, high] = scaleOf([row(0.5, 0.4, 0.6), row(0.8, 0.8, 0.8)]) ?? [];
    expect(low).toBeCloseTo(0.34);
    expect(high).toBeCloseTo(0.86);
    expect(scaleOf([row(0.97, 0.94, 1)])?.[1]).toBe(1);
    expect(scaleOf([row(-1, -1), row(1, 1)])).toEqual([-1.3, 1.3]);
  });

  it('is null where all scores are equal, or there are none', () => {
    expect([scaleOf([]), scaleOf([row(null)]), scaleOf([row(0.5, 0.5)])]).toEqual([null, null, null]);
  });
});
