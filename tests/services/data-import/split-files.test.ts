import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesOf, splitFiles } from '../../../main/services/data-import/split-files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const dataset = { repo: 'openai/gsm8k', config: 'main', revision: null };

describe('filesOf', () => {
  const paths = (...names: string[]) => names.map((path) => ({ path }));
  it('finds a split by folder in the conversion, by name in a repository', () => {
    const converted = paths('main/train/0000.parquet', 'main/train/0001.parquet', 'main/test/0000.parquet');
    expect(filesOf(converted, dataset, 'train')).toHaveLength(2);
    expect(filesOf(converted, { ...dataset, config: null }, 'test')).toHaveLength(1);
    const own = paths('README.md', 'data/train-00000-of-00001.jsonl', 'data/test.jsonl');
    expect(filesOf(own, { ...dataset, config: null, revision: 'v1' }, 'train')).toEqual(paths(own[1]?.path ?? ''));
    expect(filesOf(paths('all.csv'), { ...dataset, config: null, revision: 'v1' }, 'train')).toHaveLength(1);
  });

  it('reads the files of a split in the order in which datasets does', () => {
    const files = paths('train_b.csv', 'train-a.csv', 'train-B.csv');
    const found = filesOf(files, { ...dataset, config: null, revision: 'v1' }, 'train');
    expect(found).toEqual(paths('train-B.csv', 'train-a.csv', 'train_b.csv'));
  });

  it('asks for a config where there are several', () => {
    const several = paths('a/train/0000.parquet', 'b/train/0000.parquet');
    expect(() => filesOf(several, { ...dataset, config: null }, 'train')).toThrow(
      'Expected openai/gsm8k to have files',
    );
    // The repository's own files have no list of configs.
    const own = { ...dataset, config: null, revision: 'v1' };
    expect(() => filesOf(paths('a/train.csv', 'b/train.csv'), own, 'train')).toThrow('in one place and format');
    expect(() => filesOf(paths('train.csv', 'train.parquet'), own, 'train')).toThrow('in one place and format');
    expect(filesOf(paths('a/train.csv', 'b/train.csv'), { ...own, config: 'b' }, 'train')).toHaveLength(1);
  });
});

describe('splitFiles', () => {
  it('finds the parts of a split in a folder, packed ones too, without the files of tools', () => {
    const folder = temporaryFolder();
    const place = (...names: string[]) => join(folder, 'data', ...names);
    mkdirSync(join(folder, 'data/.cache'), { recursive: true });
    for (const name of ['train-1.jsonl.gz', 'train-0.jsonl.gz', 'test-0.jsonl.gz', '.cache/train.jsonl'])
      writeFileSync(place(name), '');
    expect(splitFiles(folder, 'train')).toEqual([place('train-0.jsonl.gz'), place('train-1.jsonl.gz')]);
    expect(() => splitFiles(folder, 'dev')).toThrow('files of the split "dev", got data/test-0.jsonl.gz, data/train-0');
  });
});
