/** Checkpoints that a run saved before it was resumed from an earlier one, and that nothing in the workspace refers to. */
import { type CheckpointRow, checkpointReference } from '../../store/checkpoints.ts';
import type { Store } from '../../store/index.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { REPLIES } from './forget-references.ts';
import { startFolder } from './from-checkpoint.ts';
import { RESUMABLE, waitingFor } from './waiting.ts';

/** Their steps. A folder that the resumed run has saved into again isn't among them. */
export function abandonedCheckpoints(store: Store, runId: number): ReadonlySet<number> {
  const discarded = store.checkpoints.ofRun(runId).filter(({ deletedAt }) => deletedAt !== null);
  if (discarded.length === 0) return new Set();
  const parents = new Set(store.runs.list().map(({ parentCheckpointId }) => parentCheckpointId));
  const chosen = chosenReferences(store);
  const isFree = (row: CheckpointRow): boolean =>
    !parents.has(row.id) && !chosen.has(checkpointReference(row.id)) && !isPlanned(store, row);
  return new Set(discarded.filter(isFree).map(({ step }) => step));
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
