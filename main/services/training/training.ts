/** Runs a stage: from a dataset and a configuration to a run in the history, via a trainer process. */

import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { type TrainConfig, totalSteps, withTotalSteps } from '../../trainer/config/config.ts';
import type { TrainerStart } from '../../trainer/protocol/start.ts';
import type { TrainerCommand, TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { type EngineAccess, engineFor, whileInUse } from '../engines/engine-for.ts';
import { startingModel } from '../models/starting-model.ts';
import { resumePoint } from '../runs/history.ts';
import { refuseImported } from '../runs/imported-runs.ts';
import { goalOf } from '../runs/promotion.ts';
import { claimRun, createRun, requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import { type RewardTrust, rewardAccess } from '../tasks/reward-access.ts';
import { externalWords, runTask } from '../tasks/run-task.ts';
import { howEnded, openFollower } from '../trackers/trackers.ts';
import { spawnTrainer } from '../trainer-process/process.ts';
import { requireRunFolder } from '../workspace/own-folders.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { readSettings } from '../workspace/settings.ts';
import { requireCheckpointSpace, requireWritable } from './checkpoint-space.ts';
import { knownEstimate } from './known-estimates.ts';
import { type PlannedStart, plannedStart, readInputs } from './planned-start.ts';
import { unlaunched } from './run-end.ts';
import type { RunOutcome } from './run-outcome.ts';
import { openRunRecorder, type StoredRun, startStep } from './run-recorder.ts';

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
  /** Called when checkpoints beyond the limit were removed. */
  readonly onDropped?: () => void;
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
  requireCheckpointSpace(store.folder, planned, options.paths);
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

/** Resumes a stopped or interrupted run from a checkpoint, or from its start if it has none. */
export function resumeTraining(store: Store, runId: number, options: ResumeOptions): LiveRun {
  const run = requireRun(store, runId);
  refuseImported(run);
  const saved = savedConfig(run);
  const config = options.maxSteps === undefined ? saved : withTotalSteps(saved, options.maxSteps);
  const from = options.checkpoint ?? resumePoint(store, run);
  const engine = engineFor(config, options.access);
  const task = runTask(store, run);
  const reward = rewardAccess(task, { workspace: store.folder, paths: options.paths }, options.access);
  const inputs = readInputs(config, task);
  const modelFolder = startingModel(store, config, options.paths).folder;
  if (from !== null && from.step >= totalSteps(config)) {
    throw inputError(
      'RUN_IS_DONE',
      `Run ${runId} has no steps left: its checkpoint is at step ${from.step} of ${totalSteps(config)}`,
      'Resume it with more steps, or start the next stage from its checkpoint.',
    );
  }
  requireCheckpointSpace(store.folder, { config, modelFolder }, options.paths);
  const folder = requireRunFolder(store, run);
  requireWritable(folder);
  const before = store.transaction(() => {
    const claimed = claimRun(store, runId);
    options.onStored?.(runId);
    return claimed;
  });
  const planned = { config, task, engine, rewardAccess: reward, ...inputs, modelFolder };
  return launchOrEnd(store, { runId, folder, ...planned, outside: null, resume: { before, from } }, options);
}

interface Launch extends StoredRun, PlannedStart {}

/** From here on the run is stored: whatever keeps its process from starting is its end. */
function launchOrEnd(store: Store, launched: Launch, options: TrainingOptions): LiveRun {
  try {
    return launch(store, launched, options);
  } catch (cause) {
    const { runId, folder } = launched;
    const outcome = Promise.resolve(unlaunched(store, runId, launched.resume?.before ?? null, cause));
    return { runId, folder, send: () => undefined, kill: () => undefined, outcome };
  }
}

function launch(store: Store, launched: Launch, options: TrainingOptions): LiveRun {
  const { runId, folder, engine = null } = launched;
  const recorder = openRunRecorder(store, { ...launched, onDropped: options.onDropped }, () =>
    trainer.send({ kind: 'stop' }),
  );
  const trackers = openFollower(launched, store, options.paths.resources);
  const trainer = spawnTrainer(jobOf(store, launched, options), {
    launch: options.paths.trainer,
    silenceMs: options.silenceMs ?? readSettings(store).hang_minutes * 60_000,
    onEvents: (events) => {
      recorder.add(events);
      trackers.poke();
      options.onEvents?.(events);
    },
  });
  const exited = whileInUse(engine, options.access ?? {}, () => trainer.exited);
  const outcome = exited.then(recorder.finish).then(async (ended) => {
    await trackers.finish({ how: howEnded(ended.state), at: store.now() });
    return ended;
  });
  return { runId, folder, send: trainer.send, kill: trainer.kill, outcome };
}

function jobOf(store: Store, launched: Launch, { paths, endIfMet }: TrainingOptions): TrainerStart {
  const { runId, folder, config, task, records, evalRecords, modelFolder, rewardAccess = null } = launched;
  return {
    kind: 'start',
    config,
    task,
    records,
    evalRecords,
    modelFolder,
    engine: launched.engine ?? null,
    rewardAccess,
    outputDir: folder,
    kernelsFile: paths.kernels,
    rewardWorker: paths.rewardWorker,
    resumeFrom: launched.resume?.from?.path ?? null,
    estimate: knownEstimate(store, config),
    goal: goalOf(store, runId, startStep(launched), endIfMet),
  };
}
