/** Records as token ids, and the completion length that they need. */
import { BraidError, inputError } from '../errors.ts';
import { encodePrompt, type Tokenizer } from '../model/tokenizer.ts';
import type { Task, TaskRecord } from '../tasks/task.ts';
import type { TrainConfig } from './config.ts';

export interface TokenRecord {
  readonly record: TaskRecord;
  readonly promptIds: readonly number[];
  /** The reference completion with its end token. */
  readonly targetIds: readonly number[];
}

/** Encodes every record's prompt and reference completion. */
export function encodeRecords(
  task: Task,
  tokenizer: Tokenizer,
  records: readonly TaskRecord[],
  eosTokenId: number,
): readonly TokenRecord[] {
  return records.map((record) => ({
    record,
    promptIds: encodePrompt(tokenizer, record.prompt),
    targetIds: [...tokenizer.encode(task.reference(record)), eosTokenId],
  }));
}

/** The token that ends completions: the tokenizer's own, else the first of the model's. */
export function endToken(tokenizer: Tokenizer, eosTokenIds: readonly number[]): number {
  const id = tokenizer.eosTokenId ?? eosTokenIds[0];
  if (id === undefined) {
    throw inputError(
      'NO_EOS',
      'Expected the model to name an end token ("eos_token_id" in config.json, "eos_token" in tokenizer_config.json), got none',
    );
  }
  return id;
}

/** Room beyond the longest target, so that a model that says a little too much is not cut off at once. */
function margin(longest: number): number {
  return Math.max(4, Math.ceil(longest / 10));
}

/**
 * Tokens that a completion may have: the configured number, or the longest target and its end plus a margin.
 * A configured number that can't hold the longest target is refused.
 */
export function completionLength(
  records: readonly TokenRecord[],
  config: Pick<TrainConfig, 'max_completion_length'>,
): number {
  const longest = records.reduce((most, { targetIds }) => Math.max(most, targetIds.length), 0);
  const asked = config.max_completion_length;
  if (asked === null) return longest + margin(longest);
  if (asked >= longest) return asked;
  throw new BraidError(
    'COMPLETION_TOO_SHORT',
    `Expected "max_completion_length" of at least ${longest} tokens (the dataset's longest target and its end), got ${asked}`,
    {
      kind: 'input',
      remedy: 'Leave max_completion_length out to have it computed, or take a dataset with fewer words.',
    },
  );
}

/** The longest prompt, in tokens. */
export function longestPrompt(records: readonly TokenRecord[]): number {
  return records.reduce((most, { promptIds }) => Math.max(most, promptIds.length), 0);
}
