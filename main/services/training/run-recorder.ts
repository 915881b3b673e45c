/**
 * What a run's trainer reports, into the run's files and the history. Files come first: extra lines are cut when the run
 * resumes; missing ones would be lost.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BraidError } from '../../errors.ts';
import { largest } from '../../lists.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { type TrainConfig, totalSteps } from '../../trainer/config/config.ts';
import type { RemoteEngine } from '../../trainer/protocol/remote.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { abandonedCheckpoints, checkpointsStartedFrom } from '../runs/abandoned-checkpoints.ts';
import { addHostEvent, recordEvents } from '../runs/events.ts';
import { openRunFiles, type RunFiles } from '../runs/files.ts';
import { dropOldCheckpoints } from '../runs/old-checkpoints.ts';
import { decisiveScores } from '../runs/promotion.ts';
import { requireRun, rewindRun } from '../runs/runs.ts';
import { entryOf, faultEntry, resumeEntry, startEntry } from '../runs/training-log.ts';
import { failedError, type TrainerExit } from '../trainer-process/process.ts';
import { openEventLog } from './event-log.ts';
import { concludeRun, type EndReasons, folderLost, historyLost, undoRun, unsettled } from './run-end.ts';
import type { RunOutcome } from './run-outcome.ts';

/** A run that is stored and about to train. */
export interface StoredRun {
  readonly runId: number;
  readonly folder: string;
  readonly config: TrainConfig;
  readonly engine?: RemoteEngine | null;
  /** What a new run's reward reaches outside the sandbox, in words. */
  readonly outside: string | null;
  /** Called when checkpoints beyond the limit were removed. */
  readonly onDropped?: (() => void) | undefined;
  /** The run as it was and the checkpoint to resume from; null for a new run. */
  readonly resume: {
    readonly before: RunRow;
    readonly from: { readonly step: number; readonly path: string } | null;
  } | null;
}

export interface RunRecorder {
  /** Files and stores a batch of the trainer's events. */
  add(events: readonly TrainerEvent[]): void;
  /** Stores what is left and the run's end, once its trainer has exited. */
  finish(exit: TrainerExit): Promise<RunOutcome>;
}

type Heard = Omit<EndReasons, 'before'>;

/** Starts the run's log. `stop` stops the trainer: without a history the run isn't worth continuing. */
export function openRunRecorder(store: Store, run: StoredRun, stop: () => void): RunRecorder {
  const { runId, folder, resume } = run;
  const files = openRunFiles(folder, { onWarning: (warning) => recordQuietly(store, runId, warning) });
  if (resume === null) startLog(store, run, files);
  const beginning = openBeginning(store, run, files);
  const checkpoints = openCheckpointLimit(store, run);
  let heard: Heard = { failure: null, collapse: null };
  /** The log may have room where the database has none. */
  const lose = (cause: unknown, events: readonly TrainerEvent[]): BraidError => {
    const failure = historyLost(runId, cause);
    if (heard.failure?.code !== 'HISTORY_LOST') files.appendLog(faultEntry(lastStep(events), 'Error', failure));
    heard = { ...heard, failure };
    stop();
    return failure;
  };
  const log = openEventLog(store, {
    prepare: (events) => {
      if (events.some(({ kind }) => kind === 'ready')) beginning.begin();
    },
    file: (events) => writeFiles(files, events, startStep(run)),
    record: (events) => {
      recordEvents(store, runId, events);
      checkpoints.after(events);
    },
    lose,
  });
  const end = (exit: TrainerExit): RunOutcome => {
    const { failure, collapse } = heard;
    const refused = resume === null && !beginning.isOver() && failure?.kind === 'input';
    // Only of a crash: what libraries log in a run that ends well is of no interest.
    if (exit.code !== 0 && exit.stderr.trim() !== '' && !refused) files.writeStderr(exit.stderr);
    if (refused) return undoRun(store, runId, failure);
    const error = failure ?? (beginning.isFolderGone() ? folderLost(runId, folder) : null);
    const before = beginning.isOver() ? null : (resume?.before ?? null);
    const outcome = concludeRun(store, runId, exit, { failure: error, collapse, before });
    logEnd(files, outcome, failure);
    return outcome;
  };
  return {
    add: (events) => {
      heard = hear(heard, events);
      log.add(events);
    },
    finish: async (exit) => {
      await checkpoints.dropped();
      try {
        // The disk may have room again.
        return await log.finish(() => end(exit));
      } catch (cause) {
        return unsettled(runId, lose(cause, []));
      }
    },
  };
}

/** The step that a run starts from. */
export function startStep({ resume }: Pick<StoredRun, 'resume'>): number {
  return resume?.from?.step ?? 0;
}

function startLog(store: Store, { runId, config, outside }: StoredRun, files: RunFiles): void {
  files.appendLog(startEntry(config, outside));
  if (outside !== null) addHostEvent(store, runId, 0, { kind: 'rewards', severity: 'info', message: outside });
}

/** Until the trainer is ready, a checkpoint may turn out unusable: later steps are kept until then, and discarded once. */
function openBeginning(store: Store, run: StoredRun, files: RunFiles) {
  const { folder, config, resume } = run;
  const from = startStep(run);
  const file = join(folder, 'run.yaml');
  let state: 'ahead' | 'begun' | 'unwritten' = 'ahead';
  return {
    begin: (): void => {
      if (state !== 'ahead') return;
      if (resume !== null) rewind(store, resume.before, from, config);
      state = 'begun';
      files.discardAfter(from);
      if (resume !== null) files.appendLog(resumeEntry(from, resume.before));
      files.writeConfig(config);
      if (config.logging_dir !== null) files.startEvents(join(config.logging_dir, basename(folder)), from);
      if (!existsSync(file)) state = 'unwritten';
    },
    isOver: (): boolean => state !== 'ahead',
    /** Whether the run's folder was removed since: saving a checkpoint creates it again silently. */
    isFolderGone: (): boolean => state === 'begun' && !existsSync(file),
  };
}

function rewind(store: Store, before: RunRow, step: number, config: TrainConfig): void {
  store.transaction(() => {
    rewindRun(store, before, step);
    store.runs.setMaxSteps(before.id, totalSteps(config), JSON.stringify(config));
  });
}

/** Removes checkpoints beyond the limit, one set after the other, after each that is stored. */
function openCheckpointLimit(
  store: Store,
  { runId, folder, config, engine = null, onDropped = () => undefined }: StoredRun,
) {
  let dropping = Promise.resolve();
  return {
    after: (events: readonly TrainerEvent[]): void => {
      const saved = events.findLast((event) => event.kind === 'checkpoint');
      if (saved === undefined) return;
      const there = store.checkpoints.ofRun(runId).filter(({ deletedAt }) => deletedAt === null);
      const known = new Set(there.map(({ step }) => step));
      const abandoned = abandonedCheckpoints(store, runId);
      const started = checkpointsStartedFrom(store, runId);
      const beside = { known, abandoned, started, scores: decisiveScores(store, runId), engine };
      dropping = dropping
        .then(() => dropOldCheckpoints(folder, saved.step, config.save_total_limit, beside))
        .then(onDropped);
    },
    dropped: (): Promise<void> => dropping,
  };
}

function writeFiles(files: RunFiles, events: readonly TrainerEvent[], from: number): void {
  for (const event of events) {
    const entry = entryOf(event, from);
    if (entry !== null) files.appendLog(entry);
    if (event.kind === 'step') files.appendStep(event.step, event.metrics);
    if (event.kind === 'step' || event.kind === 'evaluation') files.appendEvents(event.step, event.metrics);
    if (event.kind === 'samples') files.appendSamples(event.step, event.samples);
  }
}

function lastStep(events: readonly TrainerEvent[]): number {
  const steps = events.map((event) => ('step' in event ? event.step : 0));
  return largest(steps, 0);
}

/** Ends that the trainer didn't report: it died, its folder was removed, the collapse watch was right. */
function logEnd(files: RunFiles, { state, step, error }: RunOutcome, logged: BraidError | null): void {
  if (state === 'collapsed')
    files.appendLog({ step, lines: ['It counts as collapsed: the collapse watch had paused it'] });
  if (error !== null && error !== logged) files.appendLog(faultEntry(step, 'Error', error));
}

function hear(before: Heard, events: readonly TrainerEvent[]): Heard {
  let { failure, collapse } = before;
  for (const event of events) {
    if (event.kind === 'failed') failure = failedError(event);
    if (event.kind === 'paused') collapse = event.byWatch ? event.reason : null;
    if (event.kind === 'resumed') collapse = null;
  }
  return { failure, collapse };
}

function recordQuietly(store: Store, runId: number, { message, remedy }: BraidError): void {
  try {
    const { step } = requireRun(store, runId);
    addHostEvent(store, runId, step, { kind: 'files', severity: 'warning', message, remedy: remedy ?? null });
  } catch {
    // The files failed and so does the database: the batch's own transaction will report it.
  }
}
