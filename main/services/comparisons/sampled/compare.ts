/** Any number of models on the same prompts with the same random numbers, measured and compared. */
import { inputError } from '../../../errors.ts';
import { type ChatMessage, underSystem } from '../../../samples/chat-message.ts';
import type { Completed } from '../../../samples/completion.ts';
import type { ExternalAccess } from '../../../tasks/external/access.ts';
import { promptMessages } from '../../../tasks/folder/environment.ts';
import { openTask, type TaskSource } from '../../../tasks/index.ts';
import type { Task, TaskRecord } from '../../../tasks/task.ts';
import type { BackendSetting } from '../../../trainer/config/backend-names.ts';
import type { SampledModel } from '../../../trainer/jobs/sample.ts';
import { askedAlike, endedBy } from '../../../trainer/policy/asked-alike.ts';
import { withoutSystem } from '../../../trainer/policy/model-parts.ts';
import { readDataset } from '../../datasets/index.ts';
import type { ModelChoice } from '../../evaluation/evaluate.ts';
import { resolveModelParts } from '../../models/resolve.ts';
import { trainedLimit } from '../../models/trained-limit.ts';
import type { ComparisonRow, Direction, MeasuredModel, TableInput } from '../../text-worker/comparison-table.ts';
import { openTextWorkers } from '../../text-worker/workers.ts';
import { type JobOptions, runTrainerJob } from '../../trainer-process/job.ts';
import type { HostPaths } from '../../workspace/paths.ts';
import { type MeasureOptions, measurePrompt, measuresOf } from './measures.ts';
import { type LoggedStep, trainingHistory } from './training-history.ts';

export interface CompareOptions extends JobOptions {
  /** The first is the baseline. */
  readonly models: readonly ModelChoice[];
  /** JSONL of held-out records. */
  readonly dataset: string;
  readonly task: TaskSource;
  /** What the reward's components outside the sandbox need. */
  readonly rewardAccess?: ExternalAccess | null;
  /** Folder of the encoder that judges relevance; null or absent: by words. */
  readonly relevanceModel?: string | null;
  readonly paths: HostPaths;
  /** Completions per prompt. */
  readonly samples: number;
  readonly k: readonly number[];
  readonly threshold: number;
  readonly temperature: number;
  /** In tokens; by default from the longest target, or what one of the models was trained with. */
  readonly maxCompletionLength?: number;
  /** Texts that end a completion; null or absent: those that the models were trained with. */
  readonly stopStrings?: readonly string[] | null;
  readonly seed: number;
  readonly backend: BackendSetting;
  readonly threads: number;
}

/** One model's completions and its training history. */
export interface ModelSamples extends MeasuredModel {
  readonly name: string;
  /** The model whose system prompt and template switches it was asked with; null: its own. */
  readonly askedAs: string | null;
  readonly answers: readonly PromptAnswers[];
  readonly terminated: number;
  readonly norms: SampledModel['norms'];
  readonly history: readonly LoggedStep[];
  readonly seconds: number;
}

export interface PromptAnswers {
  readonly id: string;
  readonly prompt: string;
  /** The prompt of a record that brings a conversation. */
  readonly messages?: readonly ChatMessage[];
  /** The exact target, if the task has one. */
  readonly target: string | null;
  readonly completions: readonly string[];
}

export interface ModelComparison {
  readonly options: Omit<MeasureOptions, 'task'> & {
    readonly task: string;
    readonly temperature: number;
    readonly seed: number;
    /** In tokens. */
    readonly max_completion_length: number;
  };
  readonly dataset: string;
  /** The encoder that judged relevance; null: words did. */
  readonly relevanceModel: string | null;
  readonly prompts: number;
  readonly backend: string;
  readonly models: readonly ModelSamples[];
  readonly rows: readonly ComparisonRow[];
  /** What judges cost for all models, in the currency of their price; null: nobody is paid. */
  readonly rewardCost: number | null;
}

/** Compares the models. Wrong input is thrown before a process is started. */
export async function compareModels(options: CompareOptions): Promise<ModelComparison> {
  const { dataset, paths, samples, k, threshold, temperature, seed, backend, threads, relevanceModel = null } = options;
  checkOptions(options);
  // Rewards are computed in the job's process: waiting for one holds a process up.
  const task = openTask(options.task, '');
  const records = readDataset(dataset, task);
  const measuring = { ...measuredBy(options.task, task), samples, k, threshold };
  const given = askedAlike(
    options.models.map(({ name, folder, base }) => ({ name, ...resolveModelParts(folder, paths, base) })),
  ).map((model) => endedBy(model, options.stopStrings ?? null));
  const outcome = await runTrainerJob(
    {
      kind: 'sample',
      measured: true,
      task: options.task,
      models: given,
      records,
      samples,
      temperature,
      seed,
      batchSize: Math.max(1, Math.floor(ROWS / samples)),
      maxCompletionLength: options.maxCompletionLength ?? null,
      trainedLimit: trainedLimit(given),
      backend,
      threads,
      kernelsFile: paths.kernels,
      rewardWorker: paths.rewardWorker,
      rewardAccess: options.rewardAccess ?? null,
      relevanceModel,
    },
    paths.trainer,
    options,
  );
  const models: ModelSamples[] = [];
  for (const [m, { completions, measures, ...sampled }] of outcome.value.models.entries()) {
    const { name, terminated, norms, seconds } = sampled;
    const model = given[m];
    const system = model === undefined ? null : withoutSystem(model).system;
    const answers = records.map((record, i) => answersOf(task, record, completions[i] ?? [], system));
    const prompts: MeasuredModel['prompts'][number][] = [];
    for (const [i, own] of completions.entries()) {
      prompts.push(measurePrompt(task, own, measures?.[i] ?? [], measuring));
      // The host has others to serve.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const history = trainingHistory(options.models[m]?.folder ?? '');
    const askedAs = model?.askedAs ?? null;
    models.push({ name, askedAs, answers, prompts, terminated, norms, history, seconds });
  }
  const columns = models.map(({ name, prompts }) => ({ name, prompts }));
  const rows = await tableOf({ models: columns, measures: measuresOf(measuring), seed }, options);
  return {
    options: {
      ...measuring,
      temperature,
      seed,
      max_completion_length: outcome.value.models[0]?.maxCompletionLength ?? 0,
    },
    dataset,
    relevanceModel,
    prompts: records.length,
    backend: outcome.backend,
    models,
    rows,
    rewardCost: outcome.value.rewardCost,
  };
}

/** In a thread: its intervals and tests take seconds. */
async function tableOf(
  input: TableInput,
  { paths, signal }: Pick<CompareOptions, 'paths' | 'signal'>,
): Promise<readonly ComparisonRow[]> {
  const workers = openTextWorkers(paths.textWorker);
  try {
    return await workers.run('comparisonTable', input, { signal });
  } finally {
    await workers.close();
  }
}

/** The rows of a folder's task: its reward, its components, what it checks. */
function measuredBy(source: TaskSource, task: Task): Pick<MeasureOptions, 'task' | 'measures' | 'better'> {
  if (typeof source === 'string') return { task: source };
  const parts = task.rewardNames.length > 1 ? task.rewardNames : [];
  const check = task.check === null ? [] : [task.check.name];
  const better: Record<string, Direction> = { [task.mainMetric]: 'higher', success: 'higher', failed: 'lower' };
  for (const [i, name] of parts.entries()) better[name] = directionOf(task.rewardWeights?.[i] ?? 1);
  return { task: source.name, measures: [task.mainMetric, ...parts, 'success', ...check, 'failed'], better };
}

/** A component is better in the direction in which its weight adds to the reward. */
function directionOf(weight: number): Direction {
  if (weight === 0) return null;
  return weight > 0 ? 'higher' : 'lower';
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

/** `system`: the model's own system message, which stands in place of the record's. */
function answersOf(
  task: Task,
  record: TaskRecord,
  completions: readonly Completed[],
  system: string | null,
): PromptAnswers {
  const target = task.show === 'aligned' ? task.target(record) : null;
  return {
    id: record.id,
    prompt: record.prompt,
    target,
    ...(record.messages !== undefined && { messages: underSystem(promptMessages(record), system) }),
    completions: completions.map(({ completion }) => completion),
  };
}
