/** How long a task's prompts and completions get with the tokenizer of a model's folder. */
import { readModelConfig } from '../../model/config.ts';
import { loadTokenizer } from '../../model/tokenizer.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { completionLength, encodeRecords, longestPrompt } from '../batching/prompts.ts';

export interface RecordLengths {
  /** Of the longest prompt. */
  readonly promptTokens: number;
  /** Of a completion at most: the task's number, or by the longest target. */
  readonly completionTokens: number;
}

export function recordLengths(folder: string, task: Task, records: readonly TaskRecord[]): RecordLengths {
  const encoded = encodeRecords(task, loadTokenizer(folder), records, readModelConfig(folder));
  const completionTokens = completionLength(encoded, { max_completion_length: null }, task);
  return { promptTokens: longestPrompt(encoded), completionTokens };
}
