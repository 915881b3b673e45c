/** Ends of runs that were stored and never trained: undone if their input was refused, or kept with the reason. */
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { newestCheckpoint } from '../runs/history.ts';
import { finishRun, interruptRun, removeRun, requireRun } from '../runs/runs.ts';
import type { RunOutcome } from './run-outcome.ts';

/** A run whose process could not be started: nothing else would ever end it. */
export function unlaunched(store: Store, runId: number, isNew: boolean, cause: unknown): RunOutcome {
  const error = launchError(cause);
  try {
    if (isNew && error.kind === 'input') return undoRun(store, runId, error);
    if (isNew) finishRun(store, runId, 'failed', error.message);
    else interruptRun(store, runId, error.message);
    const { state, step } = requireRun(store, runId);
    return { runId, state, step, checkpoint: newestCheckpoint(store, runId)?.path ?? null, error, kept: true };
  } catch {
    return unsettled(runId, error);
  }
}

function launchError(cause: unknown): BraidError {
  if (cause instanceof BraidError) return cause;
  const message = `The trainer process could not be started: ${cause instanceof Error ? cause.message : String(cause)}`;
  return new BraidError('TRAINER_NOT_STARTED', message, {
    cause,
    remedy: 'Close other programs, or raise the limits of this user (ulimit -a), and start it again.',
  });
}

/** The end of a run that could not be stored: its state stays "running" until it can be written. */
export function unsettled(runId: number, error: BraidError): RunOutcome {
  return { runId, state: 'interrupted', step: 0, checkpoint: null, error, kept: true };
}

/** Takes a refused run out of the history. */
export function undoRun(store: Store, runId: number, error: BraidError | null): RunOutcome {
  const outcome = { runId, state: 'failed', step: 0, checkpoint: null, error } as const;
  try {
    removeRun(store, runId);
    return { ...outcome, kept: false };
  } catch (cause) {
    if (!(cause instanceof BraidError) || cause.code !== 'RUN_FOLDER_IN_USE') throw cause;
    // Why it was refused is what counts; the user can delete it later.
    finishRun(store, runId, 'failed', error?.message ?? null);
    return { ...outcome, kept: true };
  }
}
