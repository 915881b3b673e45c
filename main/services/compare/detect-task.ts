/** Which task a dataset belongs to, by the fields of its first record. */
import { inputError } from '../../errors.ts';
import { faultsError, readTextFile } from '../text-file.ts';

/** The task of a dataset; whether its records are right is the reader's to check. */
export function detectTask(file: string): 'interleave' | 'reply' {
  const content = readTextFile(file);
  if (content.kind === 'bad') throw faultsError('BAD_DATASET', [content.fault], 'Give a JSONL dataset.');
  const first = content.value.split('\n').find((line) => line.trim() !== '') ?? '';
  const fields = fieldsOf(first);
  if (fields.includes('post')) return 'reply';
  if (fields.includes('fragment_a')) return 'interleave';
  throw inputError(
    'BAD_DATASET',
    `${file}: expected records of replies (id, post, reply, engagement) or of interleaving (fragment_a, fragment_b, …), got ${fields.length === 0 ? 'none' : fields.join(', ')}`,
  );
}

function fieldsOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  } catch {
    // Not JSON: the message says that no fields were found.
    return [];
  }
}
