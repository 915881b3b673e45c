/** The four criteria of the small-scale test, as pure functions of the runs' results. */

import { repetition } from '../../text/repetition.ts';
import { plainWords } from '../../text/terms.ts';
import type { RunOutcome } from '../training/run-outcome.ts';

export interface Criterion {
  readonly name: 'completes' | 'loss_falls' | 'reward_rises' | 'generations_reasonable';
  readonly ok: boolean;
  readonly detail: string;
}

export interface TrialCurves {
  /** Supervised loss by step. */
  readonly sft: readonly number[];
  /** Mean reward by step. */
  readonly grpo: readonly number[];
}

export interface TrialEvidence extends TrialCurves {
  readonly outcomes: readonly Pick<RunOutcome, 'state' | 'error'>[];
  /** Completions of the last step. */
  readonly samples: readonly { readonly completion: string; readonly terminated: boolean }[];
}

/** A completion with fewer words counts as empty. */
const MIN_WORDS = 2;
const MAX_REPEATED = 0.3;
const MIN_SOUND = 0.8;
/** An increase within this many standard errors could be chance. */
const SURE = 1;

/** Judges a trial. */
export function trialCriteria(evidence: TrialEvidence): readonly Criterion[] {
  return [completes(evidence), lossFalls(evidence.sft), rewardRises(evidence.grpo), reasonable(evidence.samples)];
}

function completes({ outcomes }: TrialEvidence): Criterion {
  const bad = outcomes.find(({ state }) => state !== 'done');
  const whole = bad === undefined && outcomes.length === 2;
  const why = bad?.error?.message ?? `a run was ${bad?.state ?? 'not started'}`;
  return { name: 'completes', ok: whole, detail: whole ? 'both runs finished' : why };
}

function lossFalls(loss: readonly number[]): Criterion {
  const [first, last] = ends(loss);
  const ok = last.mean < first.mean;
  return { name: 'loss_falls', ok, detail: `supervised loss from ${first.mean.toFixed(3)} to ${last.mean.toFixed(3)}` };
}

function rewardRises(rewards: readonly number[]): Criterion {
  const [first, last] = ends(rewards);
  const change = `reward from ${first.mean.toFixed(3)} to ${last.mean.toFixed(3)}`;
  // A third of one step has no spread to judge by.
  if (last.n < 2) {
    const detail = `${change}: 6 steps or more can tell a rise from chance, ${rewards.length} can't`;
    return { name: 'reward_rises', ok: false, detail };
  }
  const error = Math.sqrt(first.variance / first.n + last.variance / last.n);
  const ok = last.mean - first.mean > SURE * error;
  return {
    name: 'reward_rises',
    ok,
    detail: `${change} (standard error of the difference ${error.toFixed(3)})`,
  };
}

function reasonable(samples: TrialEvidence['samples']): Criterion {
  const sound = samples.filter(({ completion, terminated }) => {
    const words = plainWords(completion);
    return terminated && words.length >= MIN_WORDS && repetition(words, 3) <= MAX_REPEATED;
  });
  const different = new Set(samples.map(({ completion }) => completion)).size;
  const share = samples.length === 0 ? 0 : sound.length / samples.length;
  const ok = share >= MIN_SOUND && different > 1;
  return {
    name: 'generations_reasonable',
    ok,
    detail: `${sound.length} of ${samples.length} final completions end by themselves, have words and don't repeat themselves; ${different} are distinct. Read some before a long run`,
  };
}

/** The first and the last third of a curve. */
function ends(values: readonly number[]) {
  const third = Math.max(1, Math.floor(values.length / 3));
  return [statistics(values.slice(0, third)), statistics(values.slice(-third))] as const;
}

function statistics(values: readonly number[]) {
  const n = Math.max(values.length, 1);
  const mean = values.length === 0 ? Number.NaN : values.reduce((a, b) => a + b, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(n - 1, 1);
  return { n, mean, variance };
}
