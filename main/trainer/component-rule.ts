/**
 * A part of the reward that gives no number is left out of the sum. One that has stopped giving any, or never gave one,
 * changes what is learned without a trace: the run says so. Reads the run's history alone, as the gaming rule does.
 */
import type { Metrics } from './events.ts';

export interface ComponentWarning {
  readonly message: string;
  readonly remedy: string;
}

/** Warnings at the step where a part begins to give no number for any completion. */
export function componentWarnings(history: readonly Metrics[]): readonly ComponentWarning[] {
  const now = history.at(-1) ?? {};
  const silent = Object.keys(now).filter((name) => /^rewards\/.+\/mean$/.test(name) && Number.isNaN(now[name]));
  return silent.flatMap((name) => {
    // Steps that reuse a generation have no rewards of their own.
    const before = history.slice(0, -1).findLast((step) => name in step)?.[name];
    if (before !== undefined && Number.isNaN(before)) return [];
    return [
      {
        message: `The reward component ${name.split('/')[1]} gave no number for any completion; it is left out of the reward.`,
        remedy:
          'Look at the samples: a component is not a number where it does not apply. Training goes on without it.',
      },
    ];
  });
}
