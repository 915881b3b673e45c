/** Running a stage: dataset and configuration in, a run in the history, a trainer process, and its end out. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { RunState } from '../store/runs.ts';
import { taskByName } from '../tasks/index.ts';
import { parseConfig, type TrainConfig } from '../trainer/config.ts';
import type { TrainerCommand, TrainerEvent } from '../trainer/events.ts';
import { datasetFiles, readDataset } from './datasets.ts';
import { resolveModel } from './models.ts';
import type { HostPaths } from './paths.ts';
import { note, recordEvents } from './run-events.ts';
import { openRunFiles, type RunFiles } from './run-files.ts';
import { newestCheckpoint } from './run-history.ts';
import { createRun, interruptRun, requireRun, resumeRun } from './runs.ts';
import { describeExit, failedError, spawnTrainer, type TrainerProcess } from './trainer-process.ts';
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
}

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
}

/** Starts a new run. Whatever is wrong with the input is thrown before anything is stored. */
export function startTraining(store: Store, config: TrainConfig, options: TrainingOptions): LiveRun {
  const resolved = resolvePaths(config);
  const inputs = readInputs(resolved);
  const modelFolder = resolveModel(resolved.model, options.paths);
  const { runId, folder } = createRun(store, resolved, { stageId: options.stageId ?? null });
  return launch(store, runId, folder, resolved, { ...inputs, modelFolder, resumeFrom: null }, options);
}

export interface ResumeOptions extends TrainingOptions {
  /** A checkpoint of the run; by default its newest. */
  readonly checkpoint?: { readonly step: number; readonly path: string };
  /** More steps than the run was to have. */
  readonly maxSteps?: number;
}

/** Goes on with a run that was stopped or interrupted, from a checkpoint, or from its start when it has none. */
export function resumeTraining(store: Store, runId: number, options: ResumeOptions): LiveRun {
  const run = requireRun(store, runId);
  const saved = parseConfig(JSON.parse(run.configJson), `run ${runId}`);
  const config = options.maxSteps === undefined ? saved : { ...saved, max_steps: options.maxSteps };
  const inputs = readInputs(config);
  const modelFolder = resolveModel(config.model, options.paths);
  const from = options.checkpoint ?? newestCheckpoint(store, runId) ?? null;
  if (from !== null && from.step >= config.max_steps) {
    throw inputError(
      'RUN_IS_DONE',
      `Expected run ${runId} to have steps left, but its checkpoint stands at step ${from.step} of ${config.max_steps}`,
      'Ask for more with --steps, or start the next stage from the checkpoint with --from.',
    );
  }
  resumeRun(store, runId, from?.step ?? 0);
  if (options.maxSteps !== undefined)
    store.transaction(() => store.runs.setMaxSteps(runId, config.max_steps, JSON.stringify(config)));
  const folder = fromStoredPath(store.folder, run.folder);
  return launch(store, runId, folder, config, { ...inputs, modelFolder, resumeFrom: from?.path ?? null }, options);
}

/** Paths in a saved configuration don't depend on where the command was typed. */
function resolvePaths(config: TrainConfig): TrainConfig {
  const { test } = datasetFiles(resolve(config.dataset));
  return {
    ...config,
    dataset: resolve(config.dataset),
    eval_dataset: config.eval_dataset === null ? (existsSync(test) ? test : null) : resolve(config.eval_dataset),
    from_checkpoint: config.from_checkpoint === null ? null : resolveCheckpoint(config.from_checkpoint),
  };
}

function resolveCheckpoint(path: string): string {
  const folder = resolve(path);
  if (existsSync(folder)) return folder;
  throw inputError(
    'CHECKPOINT_MISSING',
    `${folder}: expected a checkpoint folder, there is none`,
    'Give the path of a checkpoint-<step> folder.',
  );
}

function readInputs(config: TrainConfig) {
  const task = taskByName(config.task);
  const records = readDataset(config.dataset, task);
  const evalRecords = config.eval_dataset === null ? [] : readDataset(config.eval_dataset, task);
  if (records.length === 0)
    throw inputError('EMPTY_DATASET', `${config.dataset}: expected at least one record, got none`);
  return { records, evalRecords };
}

function launch(
  store: Store,
  runId: number,
  folder: string,
  config: TrainConfig,
  given: ReturnType<typeof readInputs> & { readonly modelFolder: string; readonly resumeFrom: string | null },
  options: TrainingOptions,
): LiveRun {
  const files = openRunFiles(folder, { onWarning: (warning) => noteQuietly(store, runId, warning) });
  if (given.resumeFrom === null) files.writeConfig(config);
  files.discardAfter(requireRun(store, runId).step);
  const job = { kind: 'start', config, outputDir: folder, kernelsFile: options.paths.kernels, ...given } as const;
  let failure: BraidError | null = null;
  const trainer = spawnTrainer(job, {
    entry: options.paths.trainer,
    onEvents: (events) => {
      failure = takeIn(store, runId, files, events) ?? failure;
      if (failure?.code === 'HISTORY_LOST') trainer.send({ kind: 'stop' });
      options.onEvents?.(events);
    },
  });
  return {
    runId,
    folder,
    send: trainer.send,
    kill: trainer.kill,
    outcome: conclude(store, runId, trainer, () => failure),
  };
}

/** Stores a batch of events. Gives the failure that it tells of, or that storing it ran into. */
function takeIn(store: Store, runId: number, files: RunFiles, events: readonly TrainerEvent[]): BraidError | null {
  let failure: BraidError | null = null;
  try {
    recordEvents(store, runId, events);
  } catch (cause) {
    // Without history a run is not worth going on: it stops at its next step, with a checkpoint.
    failure = new BraidError(
      'HISTORY_LOST',
      `Run ${runId} could not be written to the history: ${(cause as Error).message}`,
      {
        cause,
        remedy: 'Free space or mend the workspace, then resume the run.',
      },
    );
  }
  for (const event of events) {
    if (event.kind === 'step') files.appendStep(event.step, event.metrics);
    if (event.kind === 'samples') files.appendSamples(event.step, event.samples);
    if (event.kind === 'failed') failure = failedError(event);
  }
  return failure;
}

async function conclude(
  store: Store,
  runId: number,
  trainer: TrainerProcess,
  failure: () => BraidError | null,
): Promise<RunOutcome> {
  const reason = describeExit(await trainer.exited);
  const interrupted = interruptRun(store, runId, reason);
  const run = requireRun(store, runId);
  const died = new BraidError('TRAINER_DIED', `Run ${runId}: ${reason}`, {
    remedy: 'Resume the run: it goes on from its last checkpoint.',
  });
  return {
    runId,
    state: run.state,
    step: run.step,
    checkpoint: newestCheckpoint(store, runId)?.path ?? null,
    error: failure() ?? (interrupted ? died : null),
  };
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
