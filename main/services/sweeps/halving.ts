/**
 * Successive halving (Jamieson & Talwalkar 2016): all settings train for a few steps, the best share of them continues
 * for more, and so on until the whole run. Pure.
 */

/** Steps at the end of each rung, the last one the whole run. */
export function rungsOf(minSteps: number, factor: number, maxSteps: number): number[] {
  const rungs: number[] = [];
  for (let steps = minSteps; steps < maxSteps; steps *= factor) rungs.push(steps);
  return [...rungs, maxSteps];
}

/** Settings in each rung, starting with all. */
export function rungSizes(settings: number, factor: number, rungs: number): number[] {
  return Array.from({ length: rungs }, (_, rung) => Math.max(1, Math.floor(settings / factor ** rung)));
}

/** The score of a setting at the end of a rung: its mean over the seeds that have one; null: none has. */
export interface RungScore {
  readonly setting: number;
  readonly score: number | null;
  /** Ranks settings of the same score, as where no completion is right yet: their training reward; null: none is known. */
  readonly reward: number | null;
}

/** The settings that continue: the best, of equals those of the higher reward. One without a score never does. */
export function survivors(scores: readonly RungScore[], keep: number): readonly number[] {
  return scores
    .flatMap(({ setting, score, reward }) =>
      score === null || Number.isNaN(score) ? [] : [{ setting, score, reward: reward ?? Number.NEGATIVE_INFINITY }],
    )
    .toSorted((a, b) => b.score - a.score || descending(a.reward, b.reward) || a.setting - b.setting)
    .slice(0, keep)
    .map(({ setting }) => setting);
}

function descending(a: number, b: number): number {
  return a === b ? 0 : b - a;
}

/** Steps that a plan trains in total, over all settings and seeds. */
export function plannedSteps(
  maxSteps: readonly number[],
  seeds: number,
  halving: { readonly rungs: readonly number[]; readonly factor: number } | null,
): number {
  if (halving === null) return seeds * maxSteps.reduce((sum, steps) => sum + steps, 0);
  const { rungs, factor } = halving;
  const sizes = rungSizes(maxSteps.length, factor, rungs.length);
  return seeds * rungs.reduce((sum, steps, i) => sum + (sizes[i] ?? 1) * (steps - (rungs[i - 1] ?? 0)), 0);
}
