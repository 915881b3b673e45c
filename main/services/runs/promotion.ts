/** The promotion rule of a stage: held-out score at least x in n consecutive evaluations. */
import { z } from 'zod';
import type { EvaluationRow } from '../../store/evaluations.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import type { StageRow } from '../../store/stages.ts';
import { MET_TOPIC } from '../../trainer/protocol/trainer-events.ts';

export const promotionSchema = z.strictObject({
  /** Of the task's main metric, held out: a share, or of a task of the user's a reward of any size. */
  at_least: z.number(),
  evaluations: z.int().min(1).max(20).default(1),
  /** Which checkpoint the next stage starts from: the newest, or the one with the best held-out score. */
  hand_on: z.enum(['last', 'best']).default('last'),
  /** Whether the stage ends as soon as the rule is met, even with steps left. */
  end_early: z.boolean().default(false),
});

export type Promotion = Readonly<z.infer<typeof promotionSchema>>;

/** The rule of a stage; null: none, or one from another version that can't be read. */
export function promotionOf(stage: Pick<StageRow, 'promotion'>): Promotion | null {
  const result = promotionSchema.safeParse(stage.promotion);
  return result.success ? result.data : null;
}

/** A run's evaluations on its own dataset after its first step, in order; without its baseline. */
export function trainingScores(store: Pick<Store, 'evaluations'>, runId: number): EvaluationRow[] {
  return store.evaluations.ofRun(runId).filter(({ duringTraining, step }) => duringTraining && step > 0);
}

/** By step, the scores that decide which checkpoint the next stage starts from; empty where it is the newest. */
export function decisiveScores(
  store: Pick<Store, 'evaluations' | 'runs' | 'stages'>,
  runId: number,
): ReadonlyMap<number, number> {
  const stageId = store.runs.get(runId)?.stageId ?? null;
  const stage = stageId === null ? undefined : store.stages.get(stageId);
  if (stage === undefined || promotionOf(stage)?.hand_on !== 'best') return new Map();
  return scoresByStep(store, runId);
}

/** The scores of a run's evaluations on its own dataset. */
export function scoresByStep(store: Pick<Store, 'evaluations'>, runId: number): ReadonlyMap<number, number> {
  return new Map(trainingScores(store, runId).map(({ step, mean }) => [step, mean]));
}

/** The best of these in order, the later one of equals, as of checkpoints; null: none has a score. */
export function bestScore<S extends { readonly mean: number }>(scores: readonly S[]): S | null {
  // Where the reward failed on every record, the mean is NaN.
  const known = scores.filter(({ mean }) => !Number.isNaN(mean));
  return known.reduce<S | null>((best, score) => (best === null || score.mean >= best.mean ? score : best), null);
}

/** The checkpoint with the best score by step, the later one of equals; those without one, or with none there, rank last. */
export function bestOf<C extends { readonly step: number }>(
  checkpoints: readonly C[],
  scores: ReadonlyMap<number, number>,
): C | null {
  const scoreOf = ({ step }: C): number => {
    const score = scores.get(step) ?? Number.NaN;
    return Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
  };
  return checkpoints.reduce<C | null>(
    (best, checkpoint) => (best === null || scoreOf(checkpoint) >= scoreOf(best) ? checkpoint : best),
    null,
  );
}

/**
 * The goal, as the trainer gets it; null: the run's stage has none. `step`: the one it continues after. `endIfMet`: whether
 * a new run ends where it is met already.
 */
export function goalOf(
  store: Pick<Store, 'evaluations' | 'runs' | 'stages'>,
  runId: number,
  step: number,
  endIfMet = false,
) {
  const stageId = store.runs.get(runId)?.stageId ?? null;
  const stage = stageId === null ? undefined : store.stages.get(stageId);
  const rule = stage === undefined ? null : promotionOf(stage);
  if (rule === null) return null;
  const newest = store.evaluations.ofRun(runId).findLast((row) => row.duringTraining && row.step <= step);
  return { atLeast: rule.at_least, heldOut: newest?.mean ?? null, endIfMet };
}

/** The held-out score of a run that ended before its first step, as its stage's rule was met; null: it is another. */
export function metWithoutTraining(
  store: Pick<Store, 'events'>,
  { id, step, baselineScore }: Pick<RunRow, 'id' | 'step' | 'baselineScore'>,
): number | null {
  const isMet = step === 0 && store.events.ofRun(id).some(({ data }) => topicOf(data) === MET_TOPIC);
  return isMet ? baselineScore : null;
}

function topicOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'topic' in data ? data.topic : null;
}

/** "Held-out score 0.963 before training, its rule requires 0.9". */
export function metReason(score: number, { at_least }: Promotion): string {
  return `Held-out score ${score.toFixed(3)} before training, its rule requires ${at_least}`;
}
