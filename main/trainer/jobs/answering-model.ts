/** A model as the jobs that ask it open it: folders checked, records as its tokens, weights loaded for their length. */
import { type ModelConfig, readModelConfig } from '../../model/config.ts';
import { endTokens, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import type { TaskSource } from '../../tasks/index.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import {
  checkContext,
  checkHoldsTargets,
  completionLength,
  encodeRecords,
  longestPrompt,
  type TokenRecord,
} from '../batching/prompts.ts';
import type { OpenPolicy, PolicyOpener } from '../memory/open-policy.ts';
import { checkParts, type ModelParts } from '../policy/model-parts.ts';

export interface AnsweringModel extends OpenPolicy {
  readonly tokenizer: Tokenizer;
  /** Every id that ends a completion. */
  readonly eosTokenIds: readonly number[];
  readonly records: readonly TokenRecord[];
  /** Of one completion. */
  readonly maxNewTokens: number;
}

/** How long completions may get, in tokens. */
export interface Limits {
  /** null: from the records' longest target. */
  readonly maxCompletionLength: number | null;
  /** What one of the models was trained with: no less, unless a number is given. */
  readonly trainedLimit?: number | null;
}

/** Records that models answer one after the other, as a job is given them. */
export interface AskedModels extends BackendChoice, Limits {
  readonly task: TaskSource;
  /** The entry of the thread that computes the reward of a folder's task; an environment runs there. */
  readonly rewardWorker: string;
  /** What the reward and an environment need outside the sandbox, as the user has agreed; null or absent: nothing. */
  readonly rewardAccess?: ExternalAccess | null;
  /** Folder of the encoder that judges relevance; null or absent: there is none. */
  readonly relevanceModel?: string | null;
  readonly models: readonly (ModelParts & { readonly name: string })[];
  readonly records: readonly TaskRecord[];
}

/** The tokenizer and the configuration of a model whose folders are undamaged. */
export function openTokenizer(parts: ModelParts): { readonly tokenizer: Tokenizer; readonly config: ModelConfig } {
  checkParts(parts);
  return { tokenizer: loadTokenizer(parts.tokenizer, parts.chat), config: readModelConfig(parts.base) };
}

/** Opens a model for records of a task; `open` loads the weights. */
export function openAnswering(
  parts: ModelParts,
  task: Task,
  asked: Limits & { readonly records: readonly TaskRecord[] },
  open: PolicyOpener['open'],
): AnsweringModel {
  const { tokenizer, config } = openTokenizer(parts);
  const records = encodeRecords(task, tokenizer, asked.records, config);
  const { maxCompletionLength: given, trainedLimit = null } = asked;
  const byTargets = completionLength(records, { max_completion_length: given }, task);
  // Where completions are compared with targets word by word, longer ones can only lose.
  const least = task.show === 'aligned' ? null : trainedLimit;
  const maxNewTokens = given ?? Math.max(byTargets, least ?? 0);
  if (task.show === 'aligned') checkHoldsTargets(records, maxNewTokens);
  checkContext(records, maxNewTokens, config, task);
  const policy = open(parts, longestPrompt(records) + maxNewTokens);
  return { ...policy, tokenizer, eosTokenIds: endTokens(tokenizer, config.eosTokenIds), records, maxNewTokens };
}
