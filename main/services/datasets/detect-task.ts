/** The task of a dataset, by the fields of its first record. */

import { inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { faultsError, readTextFile } from '../../io/text-file.ts';

/** The task of a dataset; the reader checks whether its records are valid. */
export function detectTask(file: string): 'interleave' | 'reply' {
  const fields = firstFields(file);
  if (fields.includes('post')) return 'reply';
  if (fields.includes('fragment_a')) return 'interleave';
  if (firstFields(file).some((name) => ['messages', 'conversations'].includes(name)))
    throw inputError('CONVERSATIONS', `${file} holds conversations`, 'Name their task: --task conversation.');
  throw inputError(
    'BAD_DATASET',
    `${file}: expected records of replies (id, post, reply, engagement) or of interleaving (fragment_a, fragment_b, …), got ${fields.length === 0 ? 'none' : fields.join(', ')}`,
  );
}

/** Whether a dataset holds replies. */
export function isReplyDataset(file: string): boolean {
  return firstFields(file).includes('post');
}

function firstFields(file: string): string[] {
  const content = readTextFile(file);
  if (content.kind === 'bad') throw faultsError('BAD_DATASET', [content.fault], 'Give a JSONL dataset.');
  const first = content.value.split('\n').find((line) => line.trim() !== '') ?? '';
  try {
    const value: unknown = parseJson(first);
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  } catch {
    // Not JSON: the reader of the records reports where and why.
    return [];
  }
}
