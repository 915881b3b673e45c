import * as fs from 'node:fs';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { datasetFiles, generateDataset, readDataset, writeDataset } from '../../../main/services/datasets/index.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeTexts } from '../texts/made-texts.ts';

const made = generateDataset({ texts: madeTexts(20, 20, 20, 20), words: 3, train: 4, test: 2 });
const dataset = made.kind === 'dataset' ? made : { train: [], test: [] };
const [record] = dataset.train;

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

function file(content: string | Uint8Array): string {
  const path = join(folder, 'd.jsonl');
  writeFileSync(path, content);
  return path;
}

describe('datasetFiles', () => {
  it('puts the test file next to the training file', () => {
    const files = { train: 'a/10words.jsonl', test: 'a/10words.test.jsonl' };
    expect(datasetFiles('a/10words.jsonl')).toEqual(files);
    expect(datasetFiles('a/10words.test.jsonl')).toEqual(files);
    expect(datasetFiles('a/data')).toEqual({ train: 'a/data', test: 'a/data.test.jsonl' });
  });
});

describe('a file of conversations', () => {
  it('is named as such, with the task that takes it', () => {
    const talk = { messages: [{ role: 'user', content: 'Hi' }] };
    const read = () => readDataset(file(`${JSON.stringify(talk)}\n`), interleaveTask);
    expect(read).toThrow('holds conversations, which the task "interleave" doesn\'t take');
  });
});

describe('a file of records of another task', () => {
  it('is named as such, unless one of them is of this task or has too little to say', () => {
    const read = (...records: readonly object[]) => {
      return () => readDataset(file(records.map((one) => `${JSON.stringify(one)}\n`).join('')), interleaveTask);
    };
    const other = { id: '1', text: 'The match', label: 'sports' };
    expect(read(other, { ...other, id: '2' })).toThrow(
      /holds records of another task than "interleave": they have id, text, label$/,
    );
    for (const one of [{ ...other, words: 3 }, { id: '2' }, record ?? {}])
      expect(read(other, one)).toThrow('line 1: expected "words"');
  });
});

describe('writeDataset', () => {
  it('writes both files, which read back as they were', () => {
    const files = writeDataset(join(folder, 'new', '3words.jsonl'), dataset);
    expect(readDataset(files.train, interleaveTask)).toEqual(dataset.train);
    expect(readDataset(files.test, interleaveTask)).toEqual(dataset.test);
    expect(readFileSync(files.train, 'utf8').endsWith('}\n')).toBe(true);
  });

  it('leaves nothing behind when the disk is full', () => {
    const full = (): number => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
    };
    const ops = { ...fs, writeSync: full };
    expect(() => writeDataset(join(folder, '3words.jsonl'), dataset, ops)).toThrow('the disk is full');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('readDataset', () => {
  it('skips blank lines and accepts Windows line endings and a byte-order mark', () => {
    expect(readDataset(file(`\ufeff${JSON.stringify(record)}\r\n\r\n`), interleaveTask)).toEqual([record]);
  });

  it('names every bad line', () => {
    const lines = [
      JSON.stringify(record),
      '{"id": "x"',
      JSON.stringify(record),
      JSON.stringify({ ...record, id: 'other', words: 'three' }),
      '[]',
    ];
    const path = file(lines.join('\n'));
    expect(() => readDataset(path, interleaveTask)).toThrow(
      [
        `${path}, line 2: not JSON: expected "," or "}", got the end of the line at column 11`,
        `${path}, line 3: expected a unique id, got "${record?.id}" as on line 1`,
        `${path}, line 4: expected "words" to be a whole number, got "three"`,
        `${path}, line 5: expected an object with the fields of an interleave record, got []`,
      ].join('\n'),
    );
  });

  it('rejects other files', () => {
    expect(() => readDataset(join(folder, 'none.jsonl'), interleaveTask)).toThrow('the file does not exist');
    expect(() => readDataset(file(''), interleaveTask)).toThrow('expected at least one record, got none');
    expect(() => readDataset(file(Uint8Array.of(0x50, 0x4b, 3, 4)), interleaveTask)).toThrow('a zip archive');
  });
});
