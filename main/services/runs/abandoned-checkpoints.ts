/** Which of a run's checkpoints something in the workspace refers to: those from before it was rewound go otherwise. */
import { type CheckpointRow, checkpointReference } from '../../store/checkpoints.ts';
import type { Store } from '../../store/index.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { REPLIES } from './forget-references.ts';
import { startFolder } from './from-checkpoint.ts';
import { RESUMABLE, waitingFor } from './waiting.ts';

/**
 * The steps of those from before it was resumed from an earlier one that nothing refers to. A folder that the resumed run
 * has saved into again isn't among them.
 */
export function abandonedCheckpoints(store: Store, runId: number): ReadonlySet<number> {
  const discarded = store.checkpoints.ofRun(runId).filter(({ deletedAt }) => deletedAt !== null);
  if (discarded.length === 0) return new Set();
  const starts = startsOf(store);
  const chosen = chosenReferences(store);
  const isFree = (row: CheckpointRow): boolean => !starts(row) && !chosen.has(checkpointReference(row.id));
  return new Set(discarded.filter(isFree).map(({ step }) => step));
}

/** The steps of those that another run has started from, or will: without one its run can't be resumed, or start. */
export function checkpointsStartedFrom(store: Store, runId: number): ReadonlySet<number> {
  const there = store.checkpoints.ofRun(runId).filter(({ deletedAt }) => deletedAt === null);
  return new Set(there.filter(startsOf(store)).map(({ step }) => step));
}

/** Whether a run has started from a checkpoint, or waits to. */
function startsOf(store: Store): (row: CheckpointRow) => boolean {
  const parents = new Set(store.runs.list().map(({ parentCheckpointId }) => parentCheckpointId));
  return (row) => parents.has(row.id) || isPlanned(store, row);
}

/** What comparisons and the reply system call the models that they refer to. */
function chosenReferences(store: Store): ReadonlySet<unknown> {
  const compared = store.comparisons.list().flatMap(({ id }) => store.comparisons.models(id));
  return new Set([
    ...compared.map(({ reference }) => reference),
    ...Object.values((store.settings.get(REPLIES) as object | null) ?? {}),
  ]);
}

/** Whether a stage, or a run that waits, would start from it. */
function isPlanned(store: Store, { path }: CheckpointRow): boolean {
  const folder = fromStoredPath(store.folder, path);
  const needs = ({ from_checkpoint: from }: { readonly from_checkpoint?: unknown }): boolean =>
    typeof from === 'string' && startFolder(store, from) === folder;
  return store.stages.list().some(({ config }) => needs(config)) || waitingFor(store, needs, RESUMABLE).length > 0;
}
