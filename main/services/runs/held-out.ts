/**
 * Where a run's held-out score stands: against what it was before the run, and against the goal of its stage. The one
 * source of what screens, commands and the queue say of it. The baseline, at step 0, isn't an evaluation of the training.
 */
import type { EvaluationRow } from '../../store/evaluations.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { counted } from '../../text/format.ts';
import { reaches } from '../../text/intervals.ts';
import { evaluationDataset } from './evaluation.ts';
import { bestScore, type Promotion, promotionOf } from './promotion.ts';

export interface HeldOutScore {
  readonly step: number;
  readonly mean: number;
}

export interface HeldOutStanding {
  /** Before the run; null: not measured. */
  readonly baseline: number | null;
  /** The newest and the best evaluation since its first step, the later of equals; null before there is one. */
  readonly newest: HeldOutScore | null;
  readonly best: HeldOutScore | null;
  /** `met`: how many of the newest evaluations in a row meet it, at most `evaluations`; null: the run has no goal. */
  readonly goal: { readonly at_least: number; readonly evaluations: number; readonly met: number } | null;
  /** Whether the goal is met as often in a row as it has to be. */
  readonly isMet: boolean;
  /** How far the newest score is below the baseline: a little is a warning only where nothing better is to come. */
  readonly below: 'no' | 'little' | 'clearly';
  readonly tone: 'good' | 'quiet' | 'warn';
  /** Without its full stop. */
  readonly sentence: string;
}

export interface HeldOutInput {
  /** The run's scores in order, from step 0 for its baseline. */
  readonly evaluations: readonly HeldOutScore[];
  readonly goal: Pick<Promotion, 'at_least' | 'evaluations'> | null;
  /** Whether its last step has been trained. */
  readonly ended: boolean;
}

/** Up to here, a lower score may be chance. */
const SLACK = 0.02;

/** Where the scores stand; null before the first one of a run without a goal. */
export function heldOutStanding({ evaluations, goal, ended }: HeldOutInput): HeldOutStanding | null {
  // Reports hold it as it is: of an evaluation no more than this.
  const since = evaluations.filter(({ step }) => step > 0).map(({ step, mean }) => ({ step, mean }));
  const baseline = evaluations.find(({ step }) => step === 0)?.mean ?? null;
  const newest = since.at(-1) ?? null;
  if (newest === null && baseline === null && goal === null) return null;
  const best = bestScore(since);
  const counted = goal === null ? null : { ...goal, met: Math.min(metInARow(since, goal), goal.evaluations) };
  const isMet = counted !== null && counted.met >= counted.evaluations;
  const below = belowBaseline(newest?.mean ?? null, baseline);
  const isWarning = below === 'clearly' || (below === 'little' && (ended || (counted?.met ?? 0) > 0));
  const tone = isWarning ? 'warn' : isMet ? 'good' : 'quiet';
  const sentence = `${against(newest, baseline)}${counted === null ? '' : `; ${goalInWords(counted, newest === null)}`}`;
  return { baseline, newest, best, goal: counted, isMet, below, tone, sentence };
}

/** How far a score is below the one before the run, in the digits that are shown. */
export function belowBaseline(mean: number | null, baseline: number | null): HeldOutStanding['below'] {
  if (mean === null || baseline === null || !(Number(shown(mean)) < Number(shown(baseline)))) return 'no';
  return baseline - mean > SLACK ? 'clearly' : 'little';
}

/** Whether the model already meets the goal, trained or not: then only damage is a problem. */
export function meetsGoal({ evaluations, goal }: Pick<HeldOutInput, 'evaluations' | 'goal'>): boolean {
  const newest = evaluations.at(-1)?.mean ?? Number.NaN;
  return goal !== null && reaches(newest, goal.at_least);
}

/** The scores of a run on its own held-out records: the trainer's, or what was measured afterwards if it made none. */
export function heldOutScores(
  store: Pick<Store, 'evaluations'>,
  run: Pick<RunRow, 'id' | 'configJson' | 'dataset'>,
): readonly EvaluationRow[] {
  const all = store.evaluations.ofRun(run.id);
  const during = all.filter(({ duringTraining }) => duringTraining);
  return during.length > 0 ? during : all.filter(({ dataset }) => dataset === evaluationDataset(run));
}

/** Where a run of the history stands, against the goal that its stage has now. */
export function standingOf(
  store: Pick<Store, 'evaluations' | 'runs' | 'stages'>,
  run: Pick<RunRow, 'id' | 'configJson' | 'dataset' | 'stageId' | 'state' | 'baselineScore'>,
): HeldOutStanding | null {
  return heldOutStanding(heldOutInput(store, run));
}

/** What there is to judge; a baseline that was measured outside the run counts as well. */
export function heldOutInput(
  store: Pick<Store, 'evaluations' | 'runs' | 'stages'>,
  run: Parameters<typeof standingOf>[1],
): HeldOutInput {
  const stage = run.stageId === null ? undefined : store.stages.get(run.stageId);
  const scores = heldOutScores(store, run);
  const isKnown = run.baselineScore === null || scores.some(({ step }) => step === 0);
  return {
    evaluations: isKnown ? scores : [{ step: 0, mean: run.baselineScore ?? Number.NaN }, ...scores],
    goal: stage === undefined ? null : promotionOf(stage),
    ended: run.state === 'done',
  };
}

/** Null if the newest evaluations of a run meet its stage's rule, otherwise why not. */
export function unmetGoal(store: Pick<Store, 'evaluations' | 'runs' | 'stages'>, runId: number): string | null {
  const run = store.runs.get(runId);
  const standing = run === undefined ? null : standingOf(store, run);
  return standing === null || standing.goal === null || standing.isMet ? null : standing.sentence;
}

function metInARow(scores: readonly HeldOutScore[], { at_least }: Pick<Promotion, 'at_least'>): number {
  return scores.length - 1 - scores.findLastIndex(({ mean }) => !reaches(mean, at_least));
}

function against(newest: HeldOutScore | null, baseline: number | null): string {
  const before = baseline === null ? null : `the ${shown(baseline)} before the run`;
  if (newest === null)
    return baseline === null ? 'Not evaluated yet' : `Held-out score ${shown(baseline)} before the run, none since`;
  const seen = `Held-out score ${shown(newest.mean)} at step ${newest.step}`;
  if (before === null) return seen;
  if (belowBaseline(newest.mean, baseline) !== 'no') return `${seen}, below ${before}`;
  return shown(newest.mean) === shown(baseline ?? Number.NaN)
    ? `${seen}, as before the run`
    : `${seen}, above ${before}`;
}

/** The rule needs `evaluations` in a row. */
function goalInWords({ at_least, evaluations, met }: NonNullable<HeldOutStanding['goal']>, isAhead: boolean): string {
  const goal = `the goal of ${at_least}`;
  if (isAhead) return `${goal} needs ${counted(evaluations, 'evaluation')}`;
  if (met === 0) return `${goal} is not met`;
  if (evaluations === 1) return `${goal} is met`;
  if (met === evaluations) return `${goal} is met ${evaluations} times in a row`;
  return `${goal} is met by the newest ${met === 1 ? 'evaluation' : counted(met, 'evaluation')}, and needs ${evaluations} in a row`;
}

/** As everywhere on a page: rounded to two digits, 0.995 would read as 1. */
function shown(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3) : 'unknown';
}
