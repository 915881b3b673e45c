import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { missingFields } from '../../../main/tasks/folder/missing-fields.ts';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';

const definition = `title: T
fields: { question: text, answer: text?, hint: text? }
prompt: '{question} {hint}'
max_completion_length: 9
success_threshold: 1
`;
const reward = `export function reward({ record, completion }: Answer): number {
  // record.hint is for the prompt alone
  return record.question === '' || completion === record.answer || completion === record.source?.name ? 1 : 0;
}`;
const records = [{ answer: 'a', source: { name: 'b' } }, { answer: null }, {}].map((fields, i) => ({
  ...{ id: String(i), prompt: 'p', question: 'q' },
  ...fields,
}));

describe('missingFields', () => {
  it('counts records without a field that the reward reads, declared or not', () => {
    expect(missingFields({ definition, reward }, records)).toEqual([
      '"answer", which reward.ts reads, is missing in 2 of 3 records',
      '"source", which reward.ts reads, is missing in 2 of 3 records',
    ]);
  });

  it('is silent where nothing is missing, and where the reward has faults of its own', () => {
    expect(missingFields({ definition, reward }, records.slice(0, 1))).toEqual([]);
    expect(missingFields({ definition, reward: 'export function reward({ record' }, records)).toEqual([]);
    const shipped = readTaskFolder(resolve(import.meta.dirname, '../../../resources/tasks/exact-match'));
    expect(missingFields(shipped, records)).toEqual([]);
  });
});
