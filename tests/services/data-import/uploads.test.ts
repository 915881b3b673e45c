import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importTarget, nameOfSource } from '../../../main/services/data-import/import-dataset.ts';
import { openUploads } from '../../../main/services/data-import/uploads.ts';
import { locateWorkspace } from '../../../main/services/workspace/workspace.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('openUploads', () => {
  it('keeps a file for its owner only, until it is dropped', () => {
    const uploads = openUploads();
    const id = uploads.keep('../rows.csv', Buffer.from('a,b\n1,2\n'));
    const [file = ''] = uploads.get(id);
    expect(basename(file)).toBe('rows.csv');
    expect(readFileSync(file, 'utf8')).toBe('a,b\n1,2\n');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o077).toBe(0);
    uploads.drop(id);
    expect(existsSync(file)).toBe(false);
    expect(errorOf(() => uploads.get(id))).toMatchObject({ code: 'IMPORT_GONE' });
  });

  it.each([
    ['con.csv', 'file.csv'],
    ['a:b.jsonl', 'file.jsonl'],
    ['rows\0.csv', 'file.csv'],
    ['rows.csv.', 'file.csv'],
    [`${'x'.repeat(300)}.parquet`, 'file.parquet'],
    ['a.c?v', 'file'],
  ])('keeps %j, which not every system can name, as %s', (given, name) => {
    const uploads = openUploads();
    const [file = ''] = uploads.get(uploads.keep(given, Buffer.from('a')));
    expect([basename(file), existsSync(file)]).toEqual([name, true]);
    uploads.close();
  });

  it('forgets the oldest of more than six, and everything at the end, but no file that it only refers to', () => {
    const own = join(temporaryFolder(), 'own.jsonl');
    writeFileSync(own, '{}\n');
    const uploads = openUploads();
    const ids = [
      uploads.refer([own]),
      ...Array.from({ length: 6 }, (_, i) => uploads.keep(`${i}.csv`, Buffer.from('a'))),
    ];
    expect(errorOf(() => uploads.get(ids[0] ?? 0))).toMatchObject({ code: 'IMPORT_GONE' });
    const [kept = ''] = uploads.get(ids[6] ?? 0);
    uploads.close();
    expect(existsSync(kept)).toBe(false);
    expect(existsSync(own)).toBe(true);
  });
});

describe('importTarget', () => {
  const place = () => {
    const root = temporaryFolder();
    return { store: temporaryStore(root), workspace: locateWorkspace({ workspace: root }) };
  };

  it('is a file of the workspace', () => {
    const at = place();
    expect(importTarget(at, 'gsm8k', false)).toBe(join(at.workspace.datasets, 'gsm8k.jsonl'));
  });

  it('rejects names that are none', () => {
    for (const name of ['', '../up', 'a/b', '.hidden', 'rows.test', 'x'.repeat(61)])
      expect(errorOf(() => importTarget(place(), name, true))).toMatchObject({ code: 'BAD_NAME' });
  });

  it('rejects a dataset that is there already, unless it may be replaced', () => {
    const at = place();
    const file = join(at.workspace.datasets, 'rows.jsonl');
    at.store.datasets.record({
      name: 'rows',
      file,
      task: 'own',
      words: null,
      template: null,
      textHash: null,
      trainN: 1,
      testN: 1,
      seed: 1,
      leakage: null,
    });
    expect(errorOf(() => importTarget(at, 'rows', false))).toMatchObject({ code: 'DATASET_EXISTS' });
    expect(importTarget(at, 'rows', true)).toBe(file);
  });
});

describe('nameOfSource', () => {
  it('is a name that importTarget accepts', () => {
    expect(nameOfSource('/data/My rows.test.jsonl')).toBe('My-rows');
    expect(nameOfSource('Cafe\u0301 हिन्दी.csv')).toBe('Café-हिन्दी');
    expect(nameOfSource('hf:openai/gsm8k@v1')).toBe('gsm8k');
    expect(nameOfSource('hf:openai/gsm8k/main')).toBe('gsm8k');
    expect(nameOfSource('hf:openai/gsm8k/socratic')).toBe('gsm8k-socratic');
    expect(nameOfSource('///')).toBe('records');
  });
});
