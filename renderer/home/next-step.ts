/** Determines the user's next step. Pure. */
import type { Curriculum } from '../../main/api/contract/index.ts';

export type NextStep =
  /** No runs yet. */
  | { readonly kind: 'demo' }
  /** Runs, but no curriculum yet. */
  | { readonly kind: 'plan' }
  | { readonly kind: 'held' }
  | { readonly kind: 'stage'; readonly stageId: number; readonly name: string; readonly why: string }
  /** `warning`: a stage is done that left its model worse. */
  | { readonly kind: 'done'; readonly stages: number; readonly warning?: string };

/** The next step; null while a stage is training or queued, when there is nothing to do. */
export function nextStep({ stages, held, queue }: Curriculum, hasRuns: boolean): NextStep | null {
  // Runs and sweeps wait without a curriculum, too.
  if (held !== null) return { kind: 'held' };
  if (stages.length === 0) return { kind: hasRuns ? 'plan' : 'demo' };
  if (queue.length > 0 || stages.some(({ state }) => state === 'running')) return null;
  const next = stages.find(({ state }) => state !== 'done');
  const warning = warningOf(stages);
  if (next === undefined) return { kind: 'done', stages: stages.length, ...(warning !== null && { warning }) };
  if (!hasRuns) return { kind: 'demo' };
  const { id: stageId, name, state, reason, dataset } = next;
  if (state === 'planned')
    return { kind: 'stage', stageId, name, why: dataset === null ? 'It needs a dataset first.' : (warning ?? '') };
  return { kind: 'stage', stageId, name, why: reason ?? `It is ${state}.` };
}

/** Of the last stage that is done, as its run and the curriculum say it. */
function warningOf(stages: Curriculum['stages']): string | null {
  const done = stages.findLast(({ state }) => state === 'done');
  return done?.standing?.tone === 'warn' ? `${done.name}: ${done.standing.sentence}.` : null;
}
