/**
 * References to checkpoints are kept as text, in comparisons and settings. SQLite gives the ids of a deleted run's
 * checkpoints to the next ones, so that these references would mean another run's.
 */
import { checkpointReference } from '../../store/checkpoints.ts';
import type { Store } from '../../store/index.ts';

/** The setting in which the reply system keeps its state. */
export const REPLIES = 'replies';
/** Its references: see ReplyState. */
const CHOICES = ['model', 'start'] as const;

/** Call in the transaction that deletes the run: comparisons keep their results, choices return to their default. */
export function forgetReferences(store: Store, runId: number): void {
  const references = store.checkpoints.ofRun(runId).map(({ id }) => checkpointReference(id));
  for (const reference of references) store.comparisons.markDeleted(reference);
  const memory = store.settings.get(REPLIES);
  if (typeof memory !== 'object' || memory === null) return;
  const kept = Object.entries(memory).filter(
    ([name, value]) => !CHOICES.some((choice) => choice === name && references.includes(String(value))),
  );
  if (kept.length < Object.keys(memory).length) store.settings.set(REPLIES, Object.fromEntries(kept));
}
