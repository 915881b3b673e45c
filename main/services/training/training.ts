/** Runs a stage: from a dataset and a configuration to a run in the history, via a trainer process. */

import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import { largest } from '../../lists.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { openTask, type TaskSource, taskFacts } from '../../tasks/index.ts';
import { checkTaskWeights } from '../../trainer/config/combinations.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { TrainerStart } from '../../trainer/protocol/start.ts';
import type { TrainerCommand, TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { keptChatSettings } from '../../trainer/run/checkpoint.ts';
import { datasetFiles, readDataset } from '../datasets/index.ts';
import { type EngineAccess, engineFor, whileInUse } from '../engines/engine-for.ts';
import { chosenStartingModel, startingModel } from '../models/starting-model.ts';
import { note, recordEvents } from '../runs/events.ts';
import { openRunFiles, type RunFiles } from '../runs/files.ts';
import { adapterSettings } from '../runs/from-checkpoint.ts';
import { newestCheckpoint, resumePoint } from '../runs/history.ts';
import { refuseImported } from '../runs/imported.ts';
import { dropOldCheckpoints } from '../runs/old-checkpoints.ts';
import { decisiveScores, goalOf } from '../runs/promotion.ts';
import { claimRun, createRun, finishRun, interruptRun, requireRun, rewindRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import { entryOf, faultEntry, resumeEntry, startEntry } from '../runs/training-log.ts';
import { findTask } from '../tasks/find-task.ts';
import { type RewardTrust, rewardAccess } from '../tasks/reward-access.ts';
import { externalWords, runTask } from '../tasks/run-task.ts';
import { describeExit, failedError, spawnTrainer, type TrainerExit } from '../trainer-process/process.ts';
import { requireRunFolder } from '../workspace/own-folders.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { readSettings } from '../workspace/settings.ts';
import { withAbsolutePaths } from './absolute-paths.ts';
import { openEventLog } from './event-log.ts';
import { knownEstimate } from './known-estimates.ts';
import type { RunOutcome } from './run-outcome.ts';
import { undoRun, unlaunched, unsettled } from './unstarted-run.ts';

/** Runs a configuration under a name, to its end. */
export type TrainToEnd = (config: TrainConfig, name: string) => Promise<RunOutcome>;

/** A run with an active trainer. */
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
  /** Whether a run of a stage ends before its first step where the stage's rule is met already; by default it trains. */
  readonly endIfMet?: boolean;
  /** By default the name of the run's folder. */
  readonly name?: string;
  /** Called in the transaction that stores the run: what belongs to it is stored with it, or neither is. */
  readonly onStored?: (runId: number) => void;
  /** A trainer silent for longer counts as hung; by default the setting `hang_minutes`. */
  readonly silenceMs?: number;
  /** By default the user's own. */
  readonly access?: EngineAccess & RewardTrust;
}

/**
 * Starts a new run. Invalid input throws before anything is stored; problems that only the trainer can detect (a model's
 * files, a target that doesn't fit) are the outcome's error, and the run is undone.
 */
export function startTraining(store: Store, config: TrainConfig, options: TrainingOptions): LiveRun {
  const planned = plannedStart(store, config, options.paths, options.access);
  const outside = externalWords(planned.task, planned.rewardAccess?.models);
  const { runId, folder } = createRun(store, planned.config, {
    stageId: options.stageId ?? null,
    task: planned.task,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.onStored && { onStored: options.onStored }),
  });
  return launchOrEnd(store, { runId, folder, ...planned, outside, resume: null }, options);
}

export interface ResumeOptions extends TrainingOptions {
  /** A checkpoint of the run; by default its newest. */
  readonly checkpoint?: { readonly step: number; readonly path: string };
  /** A new total number of steps. */
  readonly maxSteps?: number;
}

/** The trainer's input for a new run, checked as far as the host can; nothing is stored. */
export function plannedStart(
  store: Store,
  config: TrainConfig,
  paths: HostPaths,
  access?: EngineAccess & RewardTrust,
): Pick<TrainerStart, 'config' | 'task' | 'rewardAccess' | 'modelFolder' | 'records' | 'evalRecords' | 'engine'> {
  const engine = engineFor(config, access);
  const task = findTask(config.task, { workspace: store.folder, paths });
  checkTaskWeights(config, taskFacts(task));
  const { config: resolved, modelFolder } = resolveConfig(store, config, paths);
  const reward = rewardAccess(task, { workspace: store.folder, paths }, access);
  return {
    config: resolved,
    task,
    engine,
    rewardAccess: reward,
    ...readInputs(resolved, task),
    modelFolder,
  };
}

/** Resumes a stopped or interrupted run from a checkpoint, or from its start if it has none. */
export function resumeTraining(store: Store, runId: number, options: ResumeOptions): LiveRun {
  const run = requireRun(store, runId);
  refuseImported(run);
  const saved = savedConfig(run);
  const config = options.maxSteps === undefined ? saved : { ...saved, max_steps: options.maxSteps };
  const from = options.checkpoint ?? resumePoint(store, run);
  const engine = engineFor(config, options.access);
  const task = runTask(store, run);
  const reward = rewardAccess(task, { workspace: store.folder, paths: options.paths }, options.access);
  const inputs = readInputs(config, task);
  const modelFolder = startingModel(store, config, options.paths).folder;
  if (from !== null && from.step >= config.max_steps) {
    throw inputError(
      'RUN_IS_DONE',
      `Run ${runId} has no steps left: its checkpoint is at step ${from.step} of ${config.max_steps}`,
      `Set more: \`braid train --resume ${from.path} --steps ${2 * from.step}\`; or start the next stage from it: \`--from ${from.path}\`.`,
    );
  }
  const folder = requireRunFolder(store, run);
  const before = store.transaction(() => {
    const claimed = claimRun(store, runId);
    options.onStored?.(runId);
    return claimed;
  });
  const planned = { runId, folder, config, task, engine, rewardAccess: reward, ...inputs, modelFolder };
  return launchOrEnd(store, { ...planned, outside: null, resume: { before, from } }, options);
}

/** The saved form: absolute paths, and a checkpoint's own model and settings. */
function resolveConfig(store: Store, config: TrainConfig, paths: HostPaths) {
  const absolute = withAbsolutePaths(store, config, paths);
  const { test } = datasetFiles(absolute.dataset);
  const { folder: modelFolder, model, from } = chosenStartingModel(store, config, paths);
  const resolved: TrainConfig = {
    ...absolute,
    ...(from !== null && config.use_peft && adapterSettings(from)),
    ...keptChatSettings(config, from ?? modelFolder),
    model,
    eval_dataset: absolute.eval_dataset ?? (existsSync(test) ? test : null),
    from_checkpoint: from,
  };
  return { config: resolved, modelFolder };
}

function readInputs(config: TrainConfig, source: TaskSource) {
  // Records are read without the reward, so it starts no thread.
  const task = openTask(source, '');
  const records = readDataset(config.dataset, task);
  const evalRecords = config.eval_dataset === null ? [] : readDataset(config.eval_dataset, task);
  if (records.length === 0)
    throw inputError('EMPTY_DATASET', `${config.dataset}: expected at least one record, got none`);
  return { records, evalRecords };
}

interface Launch extends Pick<TrainerStart, 'task' | 'rewardAccess' | 'records' | 'evalRecords' | 'engine'> {
  readonly runId: number;
  readonly folder: string;
  readonly config: TrainConfig;
  readonly modelFolder: string;
  /** What a new run's reward reaches outside the sandbox, in words. */
  readonly outside: string | null;
  /** The run as it was and the checkpoint to resume from; null for a new run. */
  readonly resume: {
    readonly before: RunRow;
    readonly from: { readonly step: number; readonly path: string } | null;
  } | null;
}

/** From here on the run is stored: whatever keeps its process from starting is its end. */
function launchOrEnd(store: Store, launched: Launch, options: TrainingOptions): LiveRun {
  try {
    return launch(store, launched, options);
  } catch (cause) {
    const { runId, folder } = launched;
    const outcome = Promise.resolve(unlaunched(store, runId, launched.resume === null, cause));
    return { runId, folder, send: () => undefined, kill: () => undefined, outcome };
  }
}

function launch(store: Store, launched: Launch, options: TrainingOptions): LiveRun {
  const { runId, folder, config, resume, task, records, evalRecords, modelFolder, engine = null } = launched;
  const files = openRunFiles(folder, { onWarning: (warning) => recordQuietly(store, runId, warning) });
  const from = resume?.from?.step ?? 0;
  if (resume === null) {
    const { outside } = launched;
    files.appendLog(startEntry(config, outside));
    if (outside !== null) note(store, runId, 0, { kind: 'rewards', severity: 'info', message: outside });
  }
  let begun = false;
  let isLost = (): boolean => false;
  let failure: BraidError | null = null;
  let collapse: string | null = null;
  let dropping = Promise.resolve();
  const begin = (): void => {
    if (resume !== null) rewind(store, resume.before, from, config);
    begun = true;
    files.discardAfter(from);
    if (resume !== null) files.appendLog(resumeEntry(from, resume.before));
    files.writeConfig(config);
    if (config.logging_dir !== null) files.startEvents(join(config.logging_dir, basename(folder)), from);
    isLost = folderWatch(folder);
  };
  /** The log may have room where the database has none. */
  const lose = (cause: unknown, events: readonly TrainerEvent[]): void => {
    const lost = historyLost(runId, cause);
    if (failure?.code !== 'HISTORY_LOST') files.appendLog(faultEntry(lastStep(events), 'Error', lost));
    failure = lost;
    trainer.send({ kind: 'stop' });
  };
  const log = openEventLog(store, {
    // Until the trainer is ready, the checkpoint may turn out unusable: keep later steps until then.
    prepare: (events) => {
      if (!begun && events.some(({ kind }) => kind === 'ready')) begin();
    },
    file: (events) => writeFiles(files, events, from),
    record: (events) => {
      recordEvents(store, runId, events);
      const saved = events.findLast((event) => event.kind === 'checkpoint');
      if (saved === undefined) return;
      const beside = { scores: decisiveScores(store, runId), engine };
      dropping = dropping.then(() => dropOldCheckpoints(folder, saved.step, config.save_total_limit, beside));
    },
    lose,
  });
  const job: TrainerStart = {
    kind: 'start',
    config,
    outputDir: folder,
    kernelsFile: options.paths.kernels,
    rewardWorker: options.paths.rewardWorker,
    resumeFrom: resume?.from?.path ?? null,
    estimate: knownEstimate(store, config),
    goal: goalOf(store, runId, from, options.endIfMet),
    rewardAccess: launched.rewardAccess ?? null,
    ...{ task, records, evalRecords, modelFolder, engine },
  };
  const trainer = spawnTrainer(job, {
    launch: options.paths.trainer,
    silenceMs: options.silenceMs ?? readSettings(store).hang_minutes * 60_000,
    onEvents: (events) => {
      collapse = collapseAfter(events, collapse);
      failure = failureIn(events) ?? failure;
      log.add(events);
      options.onEvents?.(events);
    },
  });
  const exited = whileInUse(engine, options.access ?? {}, () => trainer.exited);
  const outcome = exited.then(async (exit) => {
    await dropping;
    try {
      // The disk may have room again.
      return await log.finish(() => {
        const refused = resume === null && !begun && failure?.kind === 'input';
        // Only of a crash: what libraries log in a run that ends well is of no interest.
        if (exit.code !== 0 && exit.stderr.trim() !== '' && !refused) files.writeStderr(exit.stderr);
        if (refused) return undoRun(store, runId, failure);
        const outcome = conclude(
          store,
          runId,
          exit,
          failure ?? (isLost() ? folderLost(runId, folder) : null),
          collapse,
        );
        logEnd(files, outcome, failure);
        return outcome;
      });
    } catch (cause) {
      lose(cause, []);
      return unsettled(runId, failure ?? historyLost(runId, cause));
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

/** Files are written before the database: extra lines are cut when the run resumes; missing ones would be lost. */
function writeFiles(files: RunFiles, events: readonly TrainerEvent[], startStep: number): void {
  for (const event of events) {
    const entry = entryOf(event, startStep);
    if (entry !== null) files.appendLog(entry);
    if (event.kind === 'step') files.appendStep(event.step, event.metrics);
    if (event.kind === 'step' || event.kind === 'evaluation') files.appendEvents(event.step, event.metrics);
    if (event.kind === 'samples') files.appendSamples(event.step, event.samples);
  }
}

function lastStep(events: readonly TrainerEvent[]): number {
  return largest(
    events.map((event) => ('step' in event ? event.step : 0)),
    0,
  );
}

/** Ends of which no event of the trainer told: it died, its folder was removed, the collapse watch was right. */
function logEnd(files: RunFiles, { state, step, error }: RunOutcome, logged: BraidError | null): void {
  if (state === 'collapsed')
    files.appendLog({ step, lines: ['It counts as collapsed: the collapse watch had paused it'] });
  if (error !== null && error !== logged) files.appendLog(faultEntry(step, 'Error', error));
}

function failureIn(events: readonly TrainerEvent[]): BraidError | null {
  const failed = events.findLast((event) => event.kind === 'failed');
  return failed === undefined ? null : failedError(failed);
}

/** Without a history a run isn't worth continuing: it stops at its next step, with a checkpoint. */
function historyLost(runId: number, cause: unknown): BraidError {
  const usual = 'Free space or repair the workspace, then resume the run.';
  const gone = cause instanceof BraidError && cause.code === 'DATABASE_GONE';
  return new BraidError('HISTORY_LOST', `Run ${runId} could not be saved to the history: ${(cause as Error).message}`, {
    cause,
    remedy: gone ? (cause.remedy ?? usual) : usual,
  });
}

/** A function that says later whether the run's folder was removed: saving a checkpoint creates it again silently. */
function folderWatch(folder: string): () => boolean {
  const config = join(folder, 'run.yaml');
  return existsSync(config) ? () => !existsSync(config) : () => false;
}

function folderLost(runId: number, folder: string): BraidError {
  return new BraidError(
    'RUN_FOLDER_LOST',
    `The folder of run ${runId}, ${folder}, was removed during training: its earlier checkpoints and its logs are gone`,
    { remedy: 'The history still has its metrics, and checkpoints saved after the removal are there.' },
  );
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

/** Why the collapse watch has paused the run, if it has: if stopped now, the run counts as collapsed. */
function collapseAfter(events: readonly TrainerEvent[], before: string | null): string | null {
  let reason = before;
  for (const event of events) {
    if (event.kind === 'paused') reason = event.byWatch ? event.reason : null;
    if (event.kind === 'resumed') reason = null;
  }
  return reason;
}

function recordQuietly(store: Store, runId: number, warning: BraidError): void {
  try {
    note(store, runId, requireRun(store, runId).step, {
      kind: 'files',
      severity: 'warning',
      message: warning.message,
      remedy: warning.remedy ?? null,
    });
  } catch {
    // The files failed and so does the database: the batch's own transaction will report it.
  }
}
