import { describe, expect, it } from 'vitest';
import { reachedAt, type StudyRun, scoreWithin, studyPage } from '../../scripts/study/page.ts';

function run(arm: string, seed: number, means: readonly number[], pace = 2): StudyRun {
  const heldOut = means.map((mean, i) => ({ step: 5 * i, seconds: 5 * i * pace, mean }));
  return { arm, seed, steps: 90, seconds: 90 * pace, heldOut };
}

describe('the study', () => {
  it('finds when a score was reached, and what was reached within a time', () => {
    const plain = run('plain', 1, [0.5, 0.8, 0.95, 0.9]);
    expect(reachedAt(plain)).toEqual({ step: 10, seconds: 20, mean: 0.95 });
    expect(reachedAt(plain, 0.96)).toBeNull();
    expect(scoreWithin(plain, 19)).toBe(0.8);
    expect(scoreWithin(plain, 1000)).toBe(0.9);
  });

  it('compares each setting with the plain loop of the same seed', () => {
    const page = studyPage([
      run('plain', 1, [0.5, 0.8, 0.95]),
      run('plain', 2, [0.5, 0.7, 0.8, 0.9]),
      run('greso', 1, [0.5, 0.96], 3),
      run('greso', 2, [0.5, 0.97]),
    ]);
    expect(page).toContain('| plain | the preset | 1 of 2 | 10 [10, 10] | 20 [20, 20] | 1 |');
    // Only seed 1 has a ratio: 15 s in place of 20.
    expect(page).toMatch(/\| greso \| .* \| 2 of 2 \| 5 \[5, 5\] \| 13 \[10, 15\] \| 0\.75 \[0\.75, 0\.75\] \|/);
    expect(page).toMatch(/\| pods \| .* \| 0 of 0 \| – \| – \| – \| – \|/);
  });

  it('compares the ladder with long texts at equal steps and at equal seconds', () => {
    const page = studyPage([
      { ...run('direct', 1, [0.5, 0.5, 0.6]), seconds: 400 },
      { ...run('curriculum', 1, [0.5, 0.9, 0.95]), seconds: 10 },
    ]);
    expect(page).toMatch(/\| direct \| .* \| 0\.600 .* \| 0\.500 .* \| 400 /);
    expect(page).toMatch(/\| curriculum \| .* \| 0\.950 .* \| 0\.900 .* \| 10 /);
  });
});
