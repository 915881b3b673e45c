import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawRecords, recordAt, recordPage } from '../../../main/services/datasets/record-page.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const definition =
  "title: a\nfields: {word: text}\nprompt: 'Say {word}'\nsuccess_threshold: 1\nmax_completion_length: 9\n";
const task = { name: 'say', folder: '/tasks/say', definition, reward: '' };

function fileOf(...lines: readonly string[]): string {
  const file = join(temporaryFolder(), 'records.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}

describe('recordPage', () => {
  it('lists what has to be fixed first, and counts all', () => {
    const file = fileOf('{"word":"a"}', '{"wrd":"b"}', '{"word":"c"}');
    const page = recordPage({ task, file, offset: 0, limit: 2 });
    expect(page).toMatchObject({ total: 3, faults: 1, records: [{ kind: 'fault', line: 2 }, { prompt: 'Say a' }] });
  });
});

describe('recordAt', () => {
  it('gives one, or names its line', () => {
    const file = fileOf('{"word":"a"}', '{"wrd":"b"}');
    expect(recordAt({ task, file, index: 0 })).toMatchObject({ record: { prompt: 'Say a' }, total: 2 });
    expect(errorOf(() => recordAt({ task, file, index: 1 }))).toMatchObject({
      message: expect.stringContaining('line 2'),
    });
    expect(errorOf(() => recordAt({ task, file, index: 2 }))).toMatchObject({ code: 'NO_SUCH_RECORD' });
  });
});

describe('drawRecords', () => {
  it('draws the same for the same seed', () => {
    const file = fileOf(...Array.from({ length: 50 }, (_, i) => `{"word":"w${i}"}`));
    const drawn = (seed: number) => drawRecords({ task, file, count: 5, seed }).map(({ line }) => line);
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(1)).not.toEqual(drawn(2));
  });
});
