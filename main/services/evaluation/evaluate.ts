/** Held-out evaluation: several models complete the same records greedily, in one trainer process. */
import { inputError } from '../../errors.ts';
import { type ChatMessage, underSystem } from '../../samples/chat-message.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import { conversationOf } from '../../tasks/folder/environment.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import type { ReplyRecord } from '../../tasks/reply/record.ts';
import { replyTask } from '../../tasks/reply/task.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import type { ModelAnswers } from '../../trainer/jobs/evaluate-models.ts';
import { endedBy } from '../../trainer/policy/asked-alike.ts';
import { type ModelParts, withoutSystem } from '../../trainer/policy/model-parts.ts';
import type { EvaluationItem } from '../../trainer/protocol/trainer-events.ts';
import { readDataset } from '../datasets/index.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { trainedLimit } from '../models/trained-limit.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type RewardSummary, type ScoredByReward, summarizeRewards } from './rewards.ts';
import { type EvaluationSummary, type ScoredItem, summarizeEvaluation } from './summary.ts';

/** A model to evaluate: a folder, the name of a bundled model, or a checkpoint. */
export interface ModelChoice {
  readonly name: string;
  readonly folder: string;
  /** The base of a LoRA checkpoint, if its configuration doesn't point to it. */
  readonly base?: string;
  /** How it is asked, in place of what its folder says. */
  readonly chat?: ModelParts['chat'];
}

export interface EvaluateOptions<R extends TaskRecord = InterleaveRecord> extends JobOptions {
  readonly models: readonly ModelChoice[];
  /** Records, or the JSONL file that holds them. */
  readonly dataset: string | readonly R[];
  readonly paths: HostPaths;
  readonly backend?: BackendSetting;
  /** 0: all cores. */
  readonly threads?: number;
  /** Records decoded together. */
  readonly batchSize?: number;
  /** In tokens; by default from the records' longest target, or what one of the models was trained with. */
  readonly maxCompletionLength?: number;
  /** Texts that end a completion; null or absent: those that each model was trained with. */
  readonly stopStrings?: readonly string[] | null;
  /** What models that these are compared with were trained with; by default these alone count. */
  readonly trainedLimit?: number | null;
  /** Seed of the bootstrap. */
  readonly seed?: number;
  /** What the reward's components outside the sandbox need. */
  readonly rewardAccess?: ExternalAccess | null;
  /** Folder of the encoder that judges relevance; null or absent: by words. */
  readonly relevanceModel?: string | null;
}

export interface ModelEvaluation {
  readonly name: string;
  readonly items: readonly ScoredItem[];
  readonly summary: EvaluationSummary;
  readonly seconds: number;
  /** Completions that were cut off, and at how many tokens. */
  readonly cut: number;
  readonly maxCompletionLength: number;
}

/** The same for tasks without an exact target: the reward and each component. */
export interface RewardEvaluation extends Omit<ModelAnswers, 'items'> {
  readonly items: readonly ScoredByReward[];
  readonly summary: RewardSummary;
  /** Of each item the conversation; null: it had none. */
  readonly conversations?: readonly (readonly ChatMessage[] | null)[];
}

export interface Evaluations<E = ModelEvaluation> {
  readonly backend: string;
  readonly threads: number;
  /** In the order of the models. */
  readonly results: readonly E[];
}

/** Records decoded together by default. */
export const defaultBatchSize = 64;

/** Evaluates the models one after the other. Wrong input is thrown before a process is started. */
export async function evaluateModels(options: EvaluateOptions): Promise<Evaluations> {
  const { dataset } = options;
  const records = typeof dataset === 'string' ? readDataset(dataset, interleaveTask) : dataset;
  return evaluate('interleave', records, options, ({ items, ...answers }) => {
    const scored = scoredItems(records, items);
    return { ...answers, items: scored, summary: summarizeEvaluation(scored, options.seed) };
  });
}

/** The same for replies. */
export async function evaluateReplies(options: EvaluateOptions<ReplyRecord>): Promise<Evaluations<RewardEvaluation>> {
  const { dataset } = options;
  const records = typeof dataset === 'string' ? readDataset(dataset, replyTask) : dataset;
  return evaluate('reply', records, options, (answers) => ({
    ...answers,
    summary: summarizeRewards(answers.items, options.seed),
  }));
}

/** The same for a folder's task. */
export async function evaluateFolderTask(
  source: FolderSource,
  options: EvaluateOptions<TaskRecord>,
): Promise<Evaluations<RewardEvaluation>> {
  const { dataset } = options;
  // Records are read without the reward, so it starts no thread.
  const records = typeof dataset === 'string' ? readDataset(dataset, openTask(source, '')) : dataset;
  return evaluate(source, records, options, (answers, system) => ({
    ...answers,
    conversations: answers.items.map((item, i) => turnsOf(records[i], item, system)),
    summary: summarizeRewards(answers.items, options.seed),
  }));
}

/**
 * Where a record brings a conversation, or the answer had several turns: all of it as messages. `system`: the model's own
 * system message, which stands in place of the record's.
 */
function turnsOf(
  record: TaskRecord | undefined,
  item: ScoredByReward,
  system: string | null,
): readonly ChatMessage[] | null {
  if (record === undefined || (record.messages === undefined && item.messages === undefined)) return null;
  return underSystem(conversationOf(record, item), system);
}

async function evaluate<E>(
  task: TaskSource,
  records: readonly TaskRecord[],
  options: Omit<EvaluateOptions, 'dataset'>,
  summarize: (answers: ModelAnswers, system: string | null) => E,
): Promise<Evaluations<E>> {
  const { paths, backend = 'auto', threads = 0 } = options;
  if (records.length === 0) throw inputError('EMPTY_DATASET', 'Expected at least one record to evaluate on, got none');
  const models = options.models.map(({ name, folder, base, chat }) =>
    endedBy(
      { name, ...resolveModelParts(folder, paths, base), ...(chat !== undefined && { chat }) },
      options.stopStrings ?? null,
    ),
  );
  const outcome = await runTrainerJob(
    {
      kind: 'evaluate',
      task,
      models,
      records,
      batchSize: options.batchSize ?? defaultBatchSize,
      maxCompletionLength: options.maxCompletionLength ?? null,
      trainedLimit: options.trainedLimit ?? trainedLimit(models),
      backend,
      threads,
      kernelsFile: paths.kernels,
      rewardWorker: paths.rewardWorker,
      rewardAccess: options.rewardAccess ?? null,
      relevanceModel: options.relevanceModel ?? null,
    },
    paths.trainer,
    options,
  );
  const results = outcome.value.models.map((answers, m) => {
    const model = models[m];
    return summarize(answers, model === undefined ? null : withoutSystem(model).system);
  });
  return { backend: outcome.backend, threads: outcome.threads, results };
}

function scoredItems(records: readonly InterleaveRecord[], items: readonly EvaluationItem[]): ScoredItem[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  return items.map(({ id, completion, metrics }) => {
    const { words = 0, target = '' } = byId.get(id) ?? {};
    const { alignment = Number.NaN, exact_match = 0, first_error = 0 } = metrics;
    return { id, target, completion, words, alignment, exact_match, first_error };
  });
}
