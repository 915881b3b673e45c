/**
 * A reward component that isn't a number is excluded from the sum. One that always is NaN, or becomes so, silently
 * changes what is learned, so the run warns. Uses only the run's history, like the gaming rule, so a resumed run warns as
 * it would have otherwise.
 */
import type { Metrics } from '../protocol/trainer-events.ts';

export interface ComponentWarning {
  readonly message: string;
  readonly remedy: string;
}

/** Warns at the step from which one of these components is NaN for all completions: its mean is then missing. */
export function componentWarnings(history: readonly Metrics[], names: readonly string[]): readonly ComponentWarning[] {
  const now = history.at(-1) ?? {};
  if (!isScored(now)) return [];
  const silent = names.filter((name) => !(meanOf(name) in now));
  if (silent.length === 0) return [];
  const before = history.slice(0, -1).findLast(isScored);
  // Of what is left there is a reward, or nothing is left.
  const remedy =
    'reward' in now
      ? "Training continues without it. Check the samples: a component is NaN where it doesn't apply."
      : "No other has a number either, so there is nothing to learn from. Check the samples: a component is NaN where it doesn't apply.";
  return silent.flatMap((name) => {
    if (before !== undefined && !(meanOf(name) in before)) return [];
    return [
      {
        message: `The reward component ${name} was not a number for any completion, so it is excluded from the reward.`,
        remedy,
      },
    ];
  });
}

function meanOf(component: string): string {
  return `rewards/${component}/mean`;
}

/** Not a step that reuses a generation, nor one whose groups were all skipped because rewards failed. */
function isScored(step: Metrics): boolean {
  return 'completions/mean_length' in step && ('reward' in step || !('reward_failures' in step));
}
