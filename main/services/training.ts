/** Running a stage: dataset and configuration in, a run in the history, a trainer process, and its end out. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { RunRow, RunState } from '../store/runs.ts';
import { taskByName } from '../tasks/index.ts';
import { parseConfig, type TrainConfig } from '../trainer/config.ts';
import type { TrainerCommand, TrainerEvent } from '../trainer/events.ts';
import type { TrainerStart } from '../trainer/start.ts';
import { datasetFiles, readDataset } from './datasets.ts';
import { adapterSettings, resolveStart } from './from-checkpoint.ts';
import { modelArgument, resolveModel, resolveStartingModel } from './models.ts';
import type { HostPaths } from './paths.ts';
import { note, recordEvents } from './run-events.ts';
import { openRunFiles, type RunFiles } from './run-files.ts';
import { newestCheckpoint } from './run-history.ts';
import { claimRun, createRun, finishRun, interruptRun, removeRun, requireRun, rewindRun } from './runs.ts';
import { describeExit, failedError, spawnTrainer, type TrainerExit } from './trainer-process.ts';
import { fromStoredPath } from './workspace.ts';

export interface RunOutcome {
  readonly runId: number;
  readonly state: RunState;
  /** Steps done. */
  readonly step: number;
  /** The last checkpoint, if one was written. */
  readonly checkpoint: string | null;
  /** Why it did not end well; null when it did. */
  readonly error: BraidError | null;
  /** False for a new run whose input was refused before it began: the history has nothing of it. */
  readonly kept: boolean;
}

/** Runs a configuration under a name, to its end. */
export type TrainToEnd = (config: TrainConfig, name: string) => Promise<RunOutcome>;

/** A run whose trainer is at work. */
export interface LiveRun {
  readonly runId: number;
  readonly folder: string;
  send(command: TrainerCommand): void;
  kill(): void;
  readonly outcome: Promise<RunOutcome>;
}

export interface TrainingOptions {
  readonly paths: HostPaths;
  readonly onEvents?: (events: readonly TrainerEvent[]) => void;
  readonly stageId?: number | null;
  /** By default the name of the run's folder. */
  readonly name?: string;
  /** A trainer that says nothing for so long is taken for hung; by default it may be silent for ever. */
  readonly silenceMs?: number;
}

/**
 * Starts a new run. What is wrong with the input is thrown before anything is stored; what only the trainer can see
 * (a model's files, a target that doesn't fit) comes as the outcome's error, and the run is taken back.
 */
export function startTraining(store: Store, config: TrainConfig, options: TrainingOptions): LiveRun {
  const planned = plannedStart(store, config, options.paths);
  const { runId, folder } = createRun(store, planned.config, {
    stageId: options.stageId ?? null,
    ...(options.name === undefined ? {} : { name: options.name }),
  });
  return launch(store, { runId, folder, ...planned, resume: null }, options);
}

export interface ResumeOptions extends TrainingOptions {
  /** A checkpoint of the run; by default its newest. */
  readonly checkpoint?: { readonly step: number; readonly path: string };
  /** More steps than the run was to have. */
  readonly maxSteps?: number;
}

/** All that a trainer would be given for a new run, checked as far as the host can see; nothing is stored. */
export function plannedStart(
  store: Store,
  config: TrainConfig,
  paths: HostPaths,
): Pick<TrainerStart, 'config' | 'modelFolder' | 'records' | 'evalRecords'> {
  const resolved = resolveConfig(store, config, paths);
  return { config: resolved, ...readInputs(resolved), modelFolder: findModel(resolved, paths) };
}

/** Goes on with a run that was stopped or interrupted, from a checkpoint, or from its start when it has none. */
export function resumeTraining(store: Store, runId: number, options: ResumeOptions): LiveRun {
  const run = requireRun(store, runId);
  const saved = parseConfig(JSON.parse(run.configJson), `run ${runId}`);
  const config = options.maxSteps === undefined ? saved : { ...saved, max_steps: options.maxSteps };
  const inputs = readInputs(config);
  const modelFolder = findModel(config, options.paths);
  const from = options.checkpoint ?? newestCheckpoint(store, runId) ?? null;
  if (from !== null && from.step >= config.max_steps) {
    throw inputError(
      'RUN_IS_DONE',
      `Expected run ${runId} to have steps left, but its checkpoint stands at step ${from.step} of ${config.max_steps}`,
      'Ask for more with --steps, or start the next stage from the checkpoint with --from.',
    );
  }
  const before = claimRun(store, runId);
  const folder = fromStoredPath(store.folder, run.folder);
  return launch(store, { runId, folder, config, ...inputs, modelFolder, resume: { before, from } }, options);
}

/** As it is saved: paths don't depend on where the command was typed, a checkpoint's model and settings are its own. */
function resolveConfig(store: Store, config: TrainConfig, paths: HostPaths): TrainConfig {
  const { test } = datasetFiles(resolve(config.dataset));
  const from = config.from_checkpoint === null ? null : resolveStart(store, config.from_checkpoint);
  return {
    ...config,
    ...(from !== null && config.use_peft && adapterSettings(from)),
    model: modelArgument(findModel({ ...config, from_checkpoint: from }, paths), paths),
    dataset: resolve(config.dataset),
    eval_dataset: config.eval_dataset === null ? (existsSync(test) ? test : null) : resolve(config.eval_dataset),
    relevance_model: config.relevance_model === null ? null : resolve(config.relevance_model),
    from_checkpoint: from,
  };
}

/** A stage from a checkpoint trains that checkpoint's own model, whatever the configuration's default says. */
function findModel(config: TrainConfig, paths: HostPaths): string {
  return config.from_checkpoint === null
    ? resolveModel(config.model, paths)
    : resolveStartingModel(config.from_checkpoint, config.model, paths);
}

function readInputs(config: TrainConfig) {
  const task = taskByName(config.task);
  const records = readDataset(config.dataset, task);
  const evalRecords = config.eval_dataset === null ? [] : readDataset(config.eval_dataset, task);
  if (records.length === 0)
    throw inputError('EMPTY_DATASET', `${config.dataset}: expected at least one record, got none`);
  return { records, evalRecords };
}

interface Launch extends Pick<TrainerStart, 'records' | 'evalRecords'> {
  readonly runId: number;
  readonly folder: string;
  readonly config: TrainConfig;
  readonly modelFolder: string;
  /** The run as it was and the checkpoint that it goes on from; null for a new run. */
  readonly resume: {
    readonly before: RunRow;
    readonly from: { readonly step: number; readonly path: string } | null;
  } | null;
}

function launch(store: Store, launched: Launch, options: TrainingOptions): LiveRun {
  const { runId, folder, config, resume, records, evalRecords, modelFolder } = launched;
  const files = openRunFiles(folder, { onWarning: (warning) => noteQuietly(store, runId, warning) });
  let begun = false;
  let failure: BraidError | null = null;
  let collapse: string | null = null;
  /** What the history could not take in: it goes before what comes later, or steps would be missing in the middle. */
  let pending: readonly TrainerEvent[] = [];
  const begin = (): void => {
    begun = true;
    if (resume !== null) rewind(store, resume.before, resume.from?.step ?? 0, config);
    files.discardAfter(resume?.from?.step ?? 0);
    files.writeConfig(config);
  };
  const listen = (events: readonly TrainerEvent[]): BraidError | null => {
    try {
      // Until the trainer is ready, the checkpoint may turn out unusable: what came after it is not given up before.
      if (!begun && events.some(({ kind }) => kind === 'ready')) begin();
      collapse = collapseAfter(events, collapse);
      pending = [...pending, ...events];
      writeFiles(files, events);
      recordEvents(store, runId, pending);
      pending = [];
      return failureIn(events);
    } catch (cause) {
      return historyLost(runId, cause);
    }
  };
  const job: TrainerStart = {
    kind: 'start',
    config,
    outputDir: folder,
    kernelsFile: options.paths.kernels,
    resumeFrom: resume?.from?.path ?? null,
    records,
    evalRecords,
    modelFolder,
  };
  const trainer = spawnTrainer(job, {
    launch: options.paths.trainer,
    ...(options.silenceMs !== undefined && { silenceMs: options.silenceMs }),
    onEvents: (events) => {
      failure = listen(events) ?? failure;
      if (failure?.code === 'HISTORY_LOST') trainer.send({ kind: 'stop' });
      options.onEvents?.(events);
    },
  });
  const outcome = trainer.exited.then((exit) => {
    const refused = resume === null && !begun && failure?.kind === 'input';
    try {
      // The disk may have room again.
      recordEvents(store, runId, pending);
      return refused ? takeBack(store, runId, failure) : conclude(store, runId, exit, failure, collapse);
    } catch (cause) {
      return unsettled(runId, historyLost(runId, cause));
    }
  });
  return { runId, folder, send: trainer.send, kill: trainer.kill, outcome };
}

function rewind(store: Store, before: RunRow, step: number, config: TrainConfig): void {
  store.transaction(() => {
    rewindRun(store, before, step);
    store.runs.setMaxSteps(before.id, config.max_steps, JSON.stringify(config));
  });
}

/** Files come before the database: what they have more is cut when the run resumes; what they had less would be missing. */
function writeFiles(files: RunFiles, events: readonly TrainerEvent[]): void {
  for (const event of events) {
    if (event.kind === 'step') files.appendStep(event.step, event.metrics);
    if (event.kind === 'samples') files.appendSamples(event.step, event.samples);
  }
}

function failureIn(events: readonly TrainerEvent[]): BraidError | null {
  const failed = events.findLast((event) => event.kind === 'failed');
  return failed === undefined ? null : failedError(failed);
}

/** Without history a run is not worth going on: it stops at its next step, with a checkpoint. */
function historyLost(runId: number, cause: unknown): BraidError {
  return new BraidError(
    'HISTORY_LOST',
    `Run ${runId} could not be written to the history: ${(cause as Error).message}`,
    { cause, remedy: 'Free space or mend the workspace, then resume the run.' },
  );
}

/** The end of a run that the history could not take in: it says "running" until it can be written again. */
function unsettled(runId: number, error: BraidError): RunOutcome {
  return { runId, state: 'interrupted', step: 0, checkpoint: null, error, kept: true };
}

function takeBack(store: Store, runId: number, error: BraidError | null): RunOutcome {
  removeRun(store, runId);
  return { runId, state: 'failed', step: 0, checkpoint: null, error, kept: false };
}

function conclude(
  store: Store,
  runId: number,
  exit: TrainerExit,
  failure: BraidError | null,
  collapse: string | null,
): RunOutcome {
  const reason = describeExit(exit);
  const interrupted = interruptRun(store, runId, reason);
  if (collapse !== null && requireRun(store, runId).state === 'stopped') finishRun(store, runId, 'collapsed', collapse);
  const run = requireRun(store, runId);
  const died = new BraidError('TRAINER_DIED', `Run ${runId}: ${reason}`, {
    remedy: 'Resume the run: it goes on from its last checkpoint.',
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

/** Why the collapse watch has the run paused, if it has: who stops it then takes it for collapsed. */
function collapseAfter(events: readonly TrainerEvent[], before: string | null): string | null {
  let reason = before;
  for (const event of events) {
    if (event.kind === 'paused') reason = event.byWatch ? event.reason : null;
    if (event.kind === 'resumed') reason = null;
  }
  return reason;
}

function noteQuietly(store: Store, runId: number, warning: BraidError): void {
  try {
    note(store, runId, requireRun(store, runId).step, {
      kind: 'files',
      severity: 'warning',
      message: warning.message,
      remedy: warning.remedy ?? null,
    });
  } catch {
    // The readable files failed and so does the database: the batch's own transaction will say so.
  }
}
