/** Any number of models on the same prompts with the same random numbers, measured and compared. */
import { inputError } from '../../../errors.ts';
import { openTask } from '../../../tasks/index.ts';
import type { Task, TaskRecord } from '../../../tasks/task.ts';
import type { BackendSetting } from '../../../trainer/backend-names.ts';
import type { SampledModel } from '../../../trainer/jobs/sample.ts';
import { readDataset } from '../../datasets/index.ts';
import type { ModelChoice } from '../../evaluation/evaluate.ts';
import { resolveModelParts } from '../../models/resolve.ts';
import { type JobOptions, runTrainerJob } from '../../trainer-process/job.ts';
import type { HostPaths } from '../../workspace/paths.ts';
import { type MeasureOptions, measurePrompt, measuresOf } from './measures.ts';
import { type ComparisonRow, comparisonTable, type MeasuredModel } from './statistics.ts';
import { type LoggedStep, trainingHistory } from './training-history.ts';

export interface CompareOptions extends JobOptions {
  /** The first is the baseline. */
  readonly models: readonly ModelChoice[];
  /** JSONL of held-out records. */
  readonly dataset: string;
  readonly task: MeasureOptions['task'];
  readonly paths: HostPaths;
  /** Completions per prompt. */
  readonly samples: number;
  readonly k: readonly number[];
  readonly threshold: number;
  readonly temperature: number;
  readonly seed: number;
  readonly backend: BackendSetting;
  readonly threads: number;
}

/** One model's completions and its training history. */
export interface ModelSamples extends MeasuredModel {
  readonly name: string;
  readonly answers: readonly PromptAnswers[];
  readonly terminated: number;
  readonly norms: SampledModel['norms'];
  readonly history: readonly LoggedStep[];
  readonly seconds: number;
}

export interface PromptAnswers {
  readonly id: string;
  readonly prompt: string;
  /** The exact target, if the task has one. */
  readonly target: string | null;
  readonly completions: readonly string[];
}

export interface ModelComparison {
  readonly options: Omit<MeasureOptions, 'task'> & {
    readonly task: string;
    readonly temperature: number;
    readonly seed: number;
  };
  readonly dataset: string;
  readonly prompts: number;
  readonly backend: string;
  readonly models: readonly ModelSamples[];
  readonly rows: readonly ComparisonRow[];
}

/** Compares the models. Wrong input is thrown before a process is started. */
export async function compareModels(options: CompareOptions): Promise<ModelComparison> {
  const { dataset, paths, samples, k, threshold, temperature, seed, backend, threads } = options;
  checkOptions(options);
  const native = openTask(options.task, '');
  const records = readDataset(dataset, native);
  const task = native.fit(records);
  const measuring = { task: options.task, samples, k, threshold };
  const outcome = await runTrainerJob(
    {
      kind: 'sample',
      task: options.task,
      models: options.models.map(({ name, folder, base }) => ({ name, ...resolveModelParts(folder, paths, base) })),
      records,
      samples,
      temperature,
      seed,
      batchSize: Math.max(1, Math.floor(ROWS / samples)),
      maxCompletionLength: null,
      backend,
      threads,
      kernelsFile: paths.kernels,
    },
    paths.trainer,
    options,
  );
  const models = outcome.value.models.map(({ name, completions, terminated, norms, seconds }, m): ModelSamples => {
    const answers = records.map((record, i) => answersOf(task, record, completions[i] ?? []));
    const prompts = records.map((record, i) => measurePrompt(task, record, completions[i] ?? [], measuring));
    const history = trainingHistory(options.models[m]?.folder ?? '');
    return { name, answers, prompts, terminated, norms, history, seconds };
  });
  const rows = comparisonTable(models, measuresOf(measuring), seed);
  return {
    options: { ...measuring, temperature, seed },
    dataset,
    prompts: records.length,
    backend: outcome.backend,
    models,
    rows,
  };
}

/** Completions decoded together. */
const ROWS = 128;

function checkOptions({ models, samples, k, temperature }: CompareOptions): void {
  const tooLarge = k.find((value) => value > samples);
  if (tooLarge !== undefined)
    throw inputError(
      'BAD_OPTION',
      `Expected every k of pass@k to be at most the ${samples} samples of a prompt, got ${tooLarge}`,
      `Draw more with --samples ${tooLarge}, or remove that k with --k.`,
    );
  const names = models.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw inputError(
      'BAD_OPTION',
      `Expected unique model names, got "${twice}" twice`,
      'Name the models with NAME=FOLDER.',
    );
  if (temperature <= 0)
    throw inputError(
      'BAD_OPTION',
      `Expected the temperature to be above 0, got ${temperature}: all samples would be identical`,
    );
}

function answersOf(task: Task, record: TaskRecord, completions: readonly string[]): PromptAnswers {
  const target = task.show === 'aligned' ? task.reference(record) : null;
  return { id: record.id, prompt: record.prompt, target, completions };
}
