/**
 * The reward-gaming rule: the reward has risen and the metric that no reward uses (`check/<name>`) has not. It uses only
 * the run's history, so it needs no state, and a resumed run warns as it would have otherwise.
 */
import type { Metrics } from '../protocol/trainer-events.ts';

export interface GamingWarning {
  readonly message: string;
  readonly remedy: string;
}

/** Steps averaged at the start and at the end. */
const WINDOW = 10;
/** The reward must have risen by this share of its start, and by at least this much. */
const CLIMB_SHARE = 0.1;
const CLIMB_LEAST = 0.02;
/** With such a rise the check is expected to gain this share of its own start. */
const CHECK_SHARE = 0.02;

/** A warning at the step where the rule starts to hold, null before, afterwards and at steps that reuse a generation. */
export function gamingWarning(history: readonly Metrics[]): GamingWarning | null {
  const name = Object.keys(history.at(-1) ?? {}).find((key) => key.startsWith('check/'));
  if (name === undefined) return null;
  const scored = history.filter((step) => step.reward !== undefined && step[name] !== undefined);
  const now = findGaming(scored, name);
  return now !== null && findGaming(scored.slice(0, -1), name) === null ? now : null;
}

/** `scored`: the steps that have a reward and the check. */
function findGaming(scored: readonly Metrics[], name: string): GamingWarning | null {
  if (scored.length < 2 * WINDOW) return null;
  const reward = ends(scored, 'reward');
  const check = ends(scored, name);
  const climbed = reward.end - reward.start > Math.max(CLIMB_SHARE * Math.abs(reward.start), CLIMB_LEAST);
  if (!climbed || check.end - check.start > CHECK_SHARE * Math.abs(check.start)) return null;
  const parts = Object.keys(scored.at(-1) ?? {}).filter((key) => /^rewards\/.+\/mean$/.test(key));
  const change = parts.length > 1 ? 'lower the weight of the component that grew' : 'change the reward';
  return {
    message: `The reward has risen from ${reward.start.toFixed(3)} to ${reward.end.toFixed(3)} while ${name.slice('check/'.length)}, which no reward uses, went from ${check.start.toFixed(3)} to ${check.end.toFixed(3)}: the reward may be gamed.`,
    remedy: `Read the best completions of the newest samples. If they only please the formula, ${change}, or raise beta.`,
  };
}

function ends(history: readonly Metrics[], name: string): { readonly start: number; readonly end: number } {
  const mean = (steps: readonly Metrics[]): number =>
    steps.reduce((sum, step) => sum + (step[name] ?? 0), 0) / steps.length;
  return { start: mean(history.slice(0, WINDOW)), end: mean(history.slice(-WINDOW)) };
}
