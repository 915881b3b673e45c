/** Fields that a reward reads and some records lack: it gets nothing there, and often scores 0 without a word. */
import { BraidError } from '../../errors.ts';
import { counted } from '../../text/format.ts';
import { REWARD_FILE } from '../sandbox/messages.ts';
import { stripTypes } from '../sandbox/strip-types.ts';
import type { TaskRecord } from '../task.ts';
import { checkDefinition } from './definition.ts';
import { fieldsRead } from './record-fields.ts';
import type { FolderSource } from './source.ts';

/** A sentence for each such field. A declared field without a question mark is never missing. */
export function missingFields(
  { definition, reward }: Pick<FolderSource, 'definition' | 'reward'>,
  records: readonly TaskRecord[],
): string[] {
  const checked = checkDefinition(definition);
  if ('faults' in checked || records.length === 0) return [];
  const { fields } = checked.definition;
  return fieldsRead(withoutTypes(reward)).flatMap((name) => {
    if (Object.hasOwn(fields, name) && fields[name]?.endsWith('?') === false) return [];
    const missing = records.filter((record) => (Reflect.get(record, name) ?? null) === null).length;
    if (missing === 0) return [];
    return [`"${name}", which ${REWARD_FILE} reads, is missing in ${missing} of ${counted(records.length, 'record')}`];
  });
}

/** What is wrong with a reward.ts is reported where it is loaded. */
function withoutTypes(reward: string): string {
  try {
    return stripTypes(reward, REWARD_FILE);
  } catch (error) {
    if (error instanceof BraidError) return '';
    throw error;
  }
}
