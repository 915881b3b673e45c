/** A run that TRL trained, as an ended run of the history: metrics, samples, evaluations, checkpoints, configuration. */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { hiddenSibling, writeError } from '../../io/atomic-write.ts';
import { renameSettled } from '../../io/rename.ts';
import type { Store } from '../../store/index.ts';
import { mainMetricOf, nativeTask, openTask, type TaskSource, taskFacts } from '../../tasks/index.ts';
import { counted, formatBytes } from '../../text/format.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import { readConfigFile } from '../config/presets.ts';
import { readDataset } from '../datasets/files.ts';
import { resolveModel } from '../models/resolve.ts';
import { evaluationDataset } from '../runs/evaluation.ts';
import { addHostEvent, recordEvents } from '../runs/events.ts';
import { openRunFiles } from '../runs/files.ts';
import { TRL_BACKEND } from '../runs/imported-runs.ts';
import { createRun, finishRun, requireRun } from '../runs/runs.ts';
import { findTask } from '../tasks/find-task.ts';
import { keptTask } from '../tasks/run-task.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type CopiedCheckpoints, copyCheckpoints } from './checkpoints.ts';
import { readCompletions, type StepSamples } from './completions.ts';
import { trainedByTrl } from './fields.ts';
import { type ExportedRecord, isExported, OUTPUT_FOLDER, RUN_FILE, readExportedRecords, TEST_FILE } from './layout.ts';
import { type LoggedStep, readTrainerState, STATE_FILE, type TrainerState } from './trainer-state.ts';

export interface ImportOptions {
  readonly paths: HostPaths;
  /** The configuration of a run that wasn't exported from here; by default the exported folder's. */
  readonly config?: TrainConfig;
  /** By default the name of the run's folder. */
  readonly name?: string;
}

/** Field names as in `--json`. */
export interface ImportedRun {
  readonly run_id: number;
  readonly name: string;
  readonly folder: string;
  /** Logged steps; with `logging_steps` above 1 fewer than were trained. */
  readonly steps: number;
  readonly samples: number;
  readonly evaluations: number;
  readonly checkpoints: number;
  /** Copied for the checkpoints. */
  readonly bytes: number;
  /** What could not be imported, and what that means. */
  readonly notes: readonly string[];
}

/** Imports an output folder of TRL, or an exported folder that has one. Everything or, with an error, nothing. */
export async function importRun(store: Store, folder: string, options: ImportOptions): Promise<ImportedRun> {
  const { output, exported } = locate(folder);
  const source = sourceOf(store, exported, options, folder);
  const state = readTrainerState(output);
  const config = { ...trainedByTrl(source.config), max_steps: Math.max(1, state.maxSteps) };
  const facts = taskFacts(source.task);
  const weights = config.reward_weights ?? facts.rewardWeights;
  const records = exported === null ? ownRecords(source) : readExportedRecords(exported);
  const heldOut =
    exported === null || !existsSync(join(exported, TEST_FILE))
      ? config.eval_records
      : Math.min(config.eval_records, readExportedRecords(exported, TEST_FILE).length);
  const samples = await readCompletions(
    output,
    {
      task: { rewardNames: facts.rewardNames, rewardWeights: weights },
      groupSize: config.num_generations,
      records: new Map(records.map((one): [string, ExportedRecord] => [one.record.id, one])),
    },
    wantedSteps(state, config),
  );
  const staged = hiddenSibling(join(store.folder, 'outputs', 'import'), 'tmp');
  try {
    mkdirSync(staged, { recursive: true });
    const base = baseHere(config, options.paths);
    const copied = await copyCheckpoints(output, staged, config, base);
    return record(
      store,
      { source: { ...source, config }, state, samples, copied, base, staged, folder, heldOut },
      options,
    );
  } catch (error) {
    throw writeError(error, join(store.folder, 'outputs'), 'the imported run');
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** The dataset's records, by whose prompts TRL's completions are theirs; none where it isn't here, or of another task. */
function ownRecords({ config, task: source }: Source): readonly ExportedRecord[] {
  const task = openTask(source, '');
  try {
    return readDataset(config.dataset, task).map((record) => ({ record, target: task.target(record) }));
  } catch (error) {
    if (error instanceof BraidError) return [];
    throw error;
  }
}

interface Source {
  readonly config: TrainConfig;
  readonly task: TaskSource;
}

/** Where the output lies, and the exported folder that it belongs to; null: it was started in another way. */
function locate(folder: string): { readonly output: string; readonly exported: string | null } {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw inputError('NO_TRL_FOLDER', `${folder}: there is no such folder`, 'Give the output folder of a TRL run.');
  if (isExported(folder)) {
    const output = existsSync(join(folder, STATE_FILE)) ? folder : join(folder, OUTPUT_FOLDER);
    return { output, exported: folder };
  }
  const above = dirname(folder);
  return { output: folder, exported: isExported(above) ? above : null };
}

function sourceOf(store: Store, exported: string | null, { config, paths }: ImportOptions, folder: string): Source {
  if (config !== undefined) return { config, task: findTask(config.task, { workspace: store.folder, paths }) };
  if (exported === null)
    throw inputError(
      'NO_TRL_CONFIG',
      `${folder}: expected a folder of \`braid export --for trl\`, which has the run's configuration in run.yaml; it has none`,
      'Give the configuration with --config FILE: at least task, model, dataset, num_generations and the lora fields.',
    );
  const own = parseConfig(readConfigFile(join(exported, RUN_FILE)), join(exported, RUN_FILE));
  const task = nativeTask(own.task) === undefined ? keptTask(exported) : own.task;
  if (task !== null) return { config: own, task };
  throw inputError('BAD_TRL_FOLDER', `${exported}: expected the task's text in tasks/`, 'Copy the folder again.');
}

/** As a run here stores them: the first, the last and every `sample_steps`. */
function wantedSteps({ steps }: TrainerState, { sample_steps: every }: TrainConfig): (step: number) => boolean {
  const ends = new Set([steps[0]?.step, steps.at(-1)?.step]);
  return (step) => step % every === 0 || ends.has(step);
}

/** The base model's folder on this machine; null: it isn't here. */
function baseHere({ model }: TrainConfig, paths: HostPaths): string | null {
  try {
    return resolveModel(model, paths);
  } catch (error) {
    if (error instanceof BraidError && error.code === 'MODEL_MISSING') return null;
    throw error;
  }
}

interface Read {
  readonly source: Source;
  readonly state: TrainerState;
  readonly samples: readonly StepSamples[];
  readonly copied: CopiedCheckpoints;
  readonly base: string | null;
  readonly staged: string;
  readonly folder: string;
  /** Records of an evaluation. */
  readonly heldOut: number;
}

/** Stores what was read, in one transaction; the run's folder is removed where it fails. */
function record(store: Store, read: Read, options: ImportOptions): ImportedRun {
  const { source, state, samples, copied, staged } = read;
  const notes = notesOf(read);
  let made: string | null = null;
  try {
    return store.transaction(() => {
      const named = options.name === undefined ? {} : { name: options.name };
      const run = createRun(store, source.config, { task: source.task, ...named });
      made = run.folder;
      const last = copied.checkpoints.at(-1);
      for (const { name } of copied.checkpoints) renameSettled(join(staged, name), join(run.folder, name));
      recordEvents(store, run.runId, [
        ...state.steps.map(({ step, metrics }) => ({ kind: 'step' as const, step, metrics })),
        ...samples.map((one) => ({ kind: 'samples' as const, ...one })),
        ...copied.checkpoints.map(({ step, name }) => ({
          kind: 'checkpoint' as const,
          step,
          path: join(run.folder, name),
        })),
      ]);
      for (const one of state.evaluations) recordEvaluation(store, run.runId, one, read.heldOut);
      store.runs.setBackend(run.runId, TRL_BACKEND);
      addHostEvent(store, run.runId, 0, {
        kind: 'notice',
        severity: 'info',
        data: { topic: 'imported' },
        message: `Imported from ${read.folder}: trained by TRL`,
        remedy: notes.length === 0 ? null : notes.join(' '),
      });
      const path = last === undefined ? null : join(run.folder, last.name);
      recordEvents(store, run.runId, [{ kind: 'done', step: state.step, path, stopped: false }]);
      finishRun(store, run.runId, 'done', `Imported: TRL trained ${state.step} of ${counted(state.maxSteps, 'step')}`);
      writeRunFiles(run.folder, read);
      return {
        run_id: run.runId,
        name: run.name,
        folder: run.folder,
        notes,
        bytes: copied.bytes,
        steps: state.steps.length,
        samples: samples.reduce((sum, one) => sum + one.samples.length, 0),
        evaluations: state.evaluations.length,
        checkpoints: copied.checkpoints.length,
      };
    });
  } catch (error) {
    if (made !== null) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

/** TRL logs means only; the held-out reward stands for the task's main metric, which it is the mean of. */
function recordEvaluation(store: Store, runId: number, { step, metrics }: LoggedStep, n: number): void {
  const run = requireRun(store, runId);
  const mean = metrics.eval_reward ?? Number.NaN;
  if (step === 0) store.runs.setBaseline(runId, mean);
  store.evaluations.add(
    {
      runId,
      checkpointId: null,
      model: run.model,
      dataset: evaluationDataset(run),
      step,
      mean,
      n,
      low: null,
      high: null,
      exactMatch: null,
      duringTraining: true,
      metrics: { ...metrics, [`eval_${mainMetricOf(run.task)}`]: mean },
    },
    [],
  );
}

function writeRunFiles(folder: string, { source, state, samples, folder: from }: Read): void {
  // The history has everything: these are for reading, and a full disk has already failed above.
  const files = openRunFiles(folder, { onWarning: () => undefined });
  files.writeConfig(source.config);
  files.appendLog({ step: 0, lines: [`Imported from ${from}, trained by TRL`] });
  for (const { step, metrics } of state.steps) files.appendStep(step, metrics);
  for (const one of samples) files.appendSamples(one.step, one.samples);
  files.appendLog({ step: state.step, lines: [`TRL trained ${state.step} of ${counted(state.maxSteps, 'step')}`] });
}

/** A function's name in TRL is its column's: under another name here its rewards aren't found. */
function unscoredNote(samples: readonly StepSamples[]): string {
  const all = samples.flatMap((one) => one.samples);
  const names = Object.keys(all[0]?.components ?? {});
  const unscored = names.filter((name) => all.every(({ components }) => Number.isNaN(components[name])));
  if (unscored.length === 0) return '';
  return `The completions have no rewards called ${unscored.join(', ')}: give the task's components the names of TRL's reward functions.`;
}

function notesOf({ source, copied, samples, base }: Read): string[] {
  const { use_peft, model } = source.config;
  return [
    samples.length === 0 ? 'No completions were logged (log_completions).' : '',
    unscoredNote(samples),
    copied.checkpoints.length === 0 ? 'There are no checkpoints to copy.' : '',
    copied.skipped.length > 0
      ? `No weights in safetensors at step ${copied.skipped.join(', ')}: these checkpoints were left out.`
      : '',
    base === null && use_peft && copied.checkpoints.length > 0
      ? `The base model ${model} isn't here: put it there, or give it with --base, to use the checkpoints.`
      : '',
    copied.bytes > 0 ? `Checkpoints take ${formatBytes(copied.bytes)}; optimiser states were not copied.` : '',
  ].filter((text) => text !== '');
}
