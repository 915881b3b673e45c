/** Determines the user's next step. Pure. */
import type { Curriculum } from '../../main/api/contract/index.ts';

export type NextStep =
  /** No runs yet. */
  | { readonly kind: 'demo' }
  /** Runs, but no curriculum yet. */
  | { readonly kind: 'plan' }
  | { readonly kind: 'held' }
  | { readonly kind: 'stage'; readonly stageId: number; readonly name: string; readonly why: string }
  | { readonly kind: 'done'; readonly stages: number };

/** The next step; null while a stage is training or queued, when there is nothing to do. */
export function nextStep({ stages, held, queue }: Curriculum, hasRuns: boolean): NextStep | null {
  if (stages.length === 0) return { kind: hasRuns ? 'plan' : 'demo' };
  if (held !== null) return { kind: 'held' };
  if (queue.length > 0 || stages.some(({ state }) => state === 'running')) return null;
  const next = stages.find(({ state }) => state !== 'done');
  if (next === undefined) return { kind: 'done', stages: stages.length };
  if (!hasRuns) return { kind: 'demo' };
  const { id: stageId, name, state, reason, dataset } = next;
  if (state === 'planned')
    return { kind: 'stage', stageId, name, why: dataset === null ? 'It needs a dataset first.' : '' };
  return { kind: 'stage', stageId, name, why: reason ?? `It is ${state}.` };
}
