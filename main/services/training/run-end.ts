/** How a stored run ends: as its trainer left it, undone if its input was refused, or kept with the reason. */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { newestCheckpoint } from '../runs/history.ts';
import { finishRun, interruptRun, removeRun, requireRun } from '../runs/runs.ts';
import { describeExit, type TrainerExit } from '../trainer-process/process.ts';
import type { RunOutcome } from './run-outcome.ts';

/** What the trainer's events say of how its run will end. */
export interface EndReasons {
  readonly failure: BraidError | null;
  /** Why the collapse watch has paused the run, if it has: if stopped now, the run counts as collapsed. */
  readonly collapse: string | null;
  /** The run as it was, if it was to be resumed and its trainer hasn't begun. */
  readonly before: RunRow | null;
}

/** Stores the end of a run that trained. */
export function concludeRun(
  store: Store,
  runId: number,
  exit: TrainerExit,
  { failure, collapse, before }: EndReasons,
): RunOutcome {
  const reason = describeExit(exit);
  const interrupted = interruptRun(store, runId, reason);
  if (before !== null && (failure?.kind === 'input' || before.state === 'done')) restore(store, before);
  if (collapse !== null && requireRun(store, runId).state === 'stopped') finishRun(store, runId, 'collapsed', collapse);
  const run = requireRun(store, runId);
  const died = new BraidError('TRAINER_DIED', `Run ${runId}: ${reason}`, {
    remedy: startRemedy(reason) ?? 'Resume the run: it continues from its last checkpoint.',
  });
  return {
    runId,
    state: run.state,
    step: run.step,
    checkpoint: newestCheckpoint(store, runId)?.path ?? null,
    error: failure ?? (interrupted ? died : null),
    kept: true,
  };
}

/** A run that was not resumed has ended as it had before; why it was not is among its events. */
function restore(store: Store, { id, state, reason }: RunRow): void {
  // Its process was gone and nobody had noted it.
  const ended = state === 'running' || state === 'paused' ? 'interrupted' : state;
  store.runs.setState(id, ended, reason);
}

/** A run whose process could not be started: nothing else would ever end it. `before`: as it was; null: it is new. */
export function unlaunched(store: Store, runId: number, before: RunRow | null, cause: unknown): RunOutcome {
  const error = launchError(cause);
  try {
    if (before === null && error.kind === 'input') return undoRun(store, runId, error);
    if (before === null) finishRun(store, runId, 'failed', error.message);
    else interruptRun(store, runId, error.message);
    if (before?.state === 'done') restore(store, before);
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

/** What the trainer reports can't be stored. */
export function historyLost(runId: number, cause: unknown): BraidError {
  const usual = 'Free space or repair the workspace, then resume the run.';
  const gone = cause instanceof BraidError && cause.code === 'DATABASE_GONE';
  return new BraidError('HISTORY_LOST', `Run ${runId} could not be saved to the history: ${(cause as Error).message}`, {
    cause,
    remedy: gone ? (cause.remedy ?? usual) : usual,
  });
}

/** The run's folder went away under it. */
export function folderLost(runId: number, folder: string): BraidError {
  return new BraidError(
    'RUN_FOLDER_LOST',
    `The folder of run ${runId}, ${folder}, was removed during training: its earlier checkpoints and its logs are gone`,
    { remedy: 'The history still has its metrics, and checkpoints saved after the removal are there.' },
  );
}
