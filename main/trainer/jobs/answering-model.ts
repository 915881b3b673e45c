/** A model as the jobs that ask it open it: folders checked, records as its tokens, weights loaded for their length. */
import { type ModelConfig, readModelConfig } from '../../model/config.ts';
import { endTokens, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { completionLength, encodeRecords, longestPrompt, type TokenRecord } from '../batching/prompts.ts';
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

/** The tokenizer and the configuration of a model whose folders are undamaged. */
export function openTokenizer(parts: ModelParts): { readonly tokenizer: Tokenizer; readonly config: ModelConfig } {
  checkParts(parts);
  return { tokenizer: loadTokenizer(parts.tokenizer, parts.chat), config: readModelConfig(parts.base) };
}

/** Opens a model for records of a task; `open` loads the weights. */
export function openAnswering(
  parts: ModelParts,
  task: Task,
  asked: { readonly records: readonly TaskRecord[]; readonly maxCompletionLength: number | null },
  open: PolicyOpener['open'],
): AnsweringModel {
  const { tokenizer, config } = openTokenizer(parts);
  const records = encodeRecords(task, tokenizer, asked.records, config);
  const maxNewTokens = completionLength(records, { max_completion_length: asked.maxCompletionLength }, task);
  const policy = open(parts, longestPrompt(records) + maxNewTokens);
  return { ...policy, tokenizer, eosTokenIds: endTokens(tokenizer, config.eosTokenIds), records, maxNewTokens };
}
