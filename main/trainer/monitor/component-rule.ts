/**
 * A reward component that isn't a number is excluded from the sum. One that always is NaN, or becomes so, silently
 * changes what is learned, so the run warns. Uses only the run's history, like the gaming rule.
 */
import type { Metrics } from '../events.ts';

export interface ComponentWarning {
  readonly message: string;
  readonly remedy: string;
}

/** Warns at the step from which a component is NaN for all completions. */
export function componentWarnings(history: readonly Metrics[]): readonly ComponentWarning[] {
  const now = history.at(-1) ?? {};
  const silent = Object.keys(now).filter((name) => /^rewards\/.+\/mean$/.test(name) && Number.isNaN(now[name]));
  return silent.flatMap((name) => {
    // Steps that reuse a generation have no rewards.
    const before = history.slice(0, -1).findLast((step) => name in step)?.[name];
    if (before !== undefined && Number.isNaN(before)) return [];
    return [
      {
        message: `The reward component ${name.split('/')[1]} was not a number for any completion, so it is excluded from the reward.`,
        remedy: "Training continues without it. Check the samples: a component is NaN where it doesn't apply.",
      },
    ];
  });
}
