import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { confirmImport, importBundled, openImport, openImportPaths } from '../../../main/services/library/imports.ts';
import { compareIncoming } from '../../../main/services/library/similar.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { madeText } from '../texts/made-texts.ts';
import { temporaryLibrary } from './temporary-library.ts';

const file = (name: string, content: string | Uint8Array) => ({
  name,
  bytes: typeof content === 'string' ? new TextEncoder().encode(content) : content,
});
const rain = madeText(100, 60).text;
const longer = `${rain} ${madeText(101, 60).text}`;

describe('openImport', () => {
  it('previews an import, and stores nothing', async () => {
    const library = temporaryLibrary();
    library.store.texts.add({ title: 'Rain', text: rain, source: 'old', words: 60 });
    const shown = await openImport(library, [
      file(
        'more.json',
        JSON.stringify([{ title: 'Again', text: rain }, { title: 'Whole', text: longer }, 'Quite new words']),
      ),
    ]);
    expect(shown.files).toEqual([{ name: 'more.json', encoding: 'UTF-8', texts: 3, faults: [], faultCount: 0 }]);
    expect(shown.texts).toMatchObject([
      { title: 'Again', fate: 'left-out', resembles: [{ title: 'Rain', kind: 'exact', similarity: 1 }] },
      { title: 'Whole', fate: 'replaces', words: 120, resembles: [{ title: 'Rain', kind: 'near' }] },
      { title: 'Quite new words', fate: 'new', beginning: 'Quite new words', resembles: [] },
    ]);
    expect(shown.stages.find(({ words }) => words === 100)).toEqual({ words: 100, before: 0, after: 1 });
    expect(library.store.texts.headings()).toHaveLength(1);
    expect(library.told).not.toContain('texts');
  });

  it('gives the good texts of a file with errors, and each error with line and reason', async () => {
    const shown = await openImport(temporaryLibrary(), [
      file('bad.jsonl', '{"text":"fine words"}\n{"text":5}\n'),
      file('good.txt', 'Some words'),
      file('picture.txt', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0])),
    ]);
    expect(shown.files).toMatchObject([
      { name: 'bad.jsonl', texts: 1, faults: [{ line: 2, reason: 'expected "text" to be a string, got 5' }] },
      { name: 'good.txt', texts: 1, faultCount: 0 },
      { name: 'picture.txt', texts: 0, faults: [{ reason: expect.stringContaining('binary file') }] },
    ]);
    expect(shown.texts.map(({ title, file }) => [title, file])).toEqual([
      ['fine words', 0],
      ['good', 1],
    ]);
  });

  it('detects the format of pasted text by its content', async () => {
    const shown = await openImport(temporaryLibrary(), [
      file('Pasted 1', '{"text":"one"}\n{"text":"two"}'),
      file('Pasted 2', '[ "three" ]'),
      file('Pasted 3', '# Heading\n\nfour'),
      file('Pasted 4', 'five'),
    ]);
    expect(shown.files.map(({ name }) => name)).toEqual([
      'Pasted 1.jsonl',
      'Pasted 2.json',
      'Pasted 3.md',
      'Pasted 4.txt',
    ]);
    expect(shown.texts.map(({ title }) => title)).toEqual(['one', 'two', 'three', 'Heading', 'Pasted 4']);
  });

  it('stops reading when the caller has gone', async () => {
    const library = temporaryLibrary();
    const asker = new AbortController();
    const reading = openImport(library, [file('a.txt', rain)], { signal: asker.signal });
    asker.abort();
    await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(library.jobs.list()).toMatchObject([{ kind: 'import', state: 'cancelled' }]);
  });

  it('reads nothing for someone who had gone before the files were here', async () => {
    const library = temporaryLibrary();
    const reading = openImport(library, [file('a.txt', rain)], { signal: AbortSignal.abort() });
    await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(library.jobs.list()).toEqual([]);
  });

  it('rejects no file and too much', async () => {
    const library = temporaryLibrary();
    await expect(openImport(library, [])).rejects.toMatchObject({ code: 'NOTHING_TO_IMPORT' });
    const half = new Uint8Array(33 * 2 ** 20);
    await expect(openImport(library, [file('a.txt', half), file('b.txt', half)])).rejects.toMatchObject({
      code: 'IMPORT_TOO_LARGE',
      message: 'Expected at most 64 MiB in one import, got 66 MiB',
    });
  });

  it('reads files by their path and names what is missing', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.txt'), 'Some words');
    const long = `${'x'.repeat(300)}.txt`;
    const paths = [join(folder, 'a.txt'), join(folder, 'none.txt'), join(folder, long)];
    const shown = await openImportPaths(temporaryLibrary(), paths);
    expect(shown.files).toMatchObject([
      { name: 'a.txt', faultCount: 0 },
      { name: 'none.txt', faults: [{ file: 'none.txt', reason: 'the file does not exist' }] },
      { name: long, faultCount: 1 },
    ]);
  });
});

describe('confirmImport', () => {
  it('imports everything previewed except what was excluded, and reports it', async () => {
    const library = temporaryLibrary();
    library.store.texts.add({ title: 'Rain', text: rain, source: 'old', words: 60 });
    const { importId } = await openImport(library, [
      file('more.json', JSON.stringify({ Whole: longer, Unwanted: 'not this one', New: 'these four new words' })),
    ]);
    expect(await confirmImport(library, importId, { without: [1] })).toEqual({
      added: 2,
      removed: ['Rain'],
      leftOut: 0,
    });
    expect(library.store.texts.headings()).toMatchObject([
      { title: 'Whole', words: 120 },
      { title: 'New', words: 4 },
    ]);
    expect(library.told).toContain('texts');
  });

  it('keeps the earlier one of near duplicates, the new one, or both, as decided', async () => {
    for (const [keep, titles] of [
      ['earlier', ['Rain']],
      ['new', ['Whole']],
      ['both', ['Rain', 'Whole']],
    ] as const) {
      const library = temporaryLibrary();
      library.store.texts.add({ title: 'Rain', text: rain, source: 'old', words: 60 });
      const { importId } = await openImport(library, [
        file('more.json', JSON.stringify(['x', { title: 'Whole', text: longer }])),
      ]);
      const { first, second, runs } = await compareIncoming(library, importId, 1);
      expect([first, second]).toMatchObject([
        { title: 'Rain', words: 60, side: null },
        { title: 'Whole', words: 120 },
      ]);
      expect(runs.map(({ kind, words }) => [kind, words.length])).toEqual([
        ['same', 60],
        ['second', 60],
      ]);
      await confirmImport(library, importId, { without: [0], keep: [{ position: 1, keep }] });
      const rows = library.store.texts.list();
      expect(rows.map(({ title }) => title)).toEqual(titles);
      // Both on one side: the split would put one of them where it repeats the other.
      if (keep === 'both') expect(rows.map(({ side }) => side)).toEqual(['train', 'train']);
    }
  });

  it('rejects an expired import, and one without texts', async () => {
    const library = temporaryLibrary();
    await expect(confirmImport(library, 7)).rejects.toMatchObject({ code: 'IMPORT_GONE' });
    const { importId } = await openImport(library, [file('a.txt', 'words')]);
    await expect(confirmImport(library, importId, { without: [0] })).rejects.toMatchObject({
      code: 'NOTHING_TO_IMPORT',
    });
    library.staged.drop(importId);
    await expect(confirmImport(library, importId)).rejects.toMatchObject({ code: 'IMPORT_GONE' });
  });

  it('merges into the corpus as it is by then', async () => {
    const library = temporaryLibrary();
    const { importId } = await openImport(library, [
      file('a.json', JSON.stringify({ Rain: rain, Other: 'other words' })),
    ]);
    library.store.texts.add({ title: 'Meanwhile', text: rain, source: 'x', words: 60 });
    expect(await confirmImport(library, importId)).toEqual({ added: 1, removed: [], leftOut: 1 });
  });
});

describe('importBundled', () => {
  it('fills an empty corpus', async () => {
    const library = temporaryLibrary();
    const { added, leftOut } = await importBundled(library);
    expect(added).toBeGreaterThan(50);
    expect(leftOut).toBe(0);
    expect(library.store.texts.headings()).toHaveLength(added);
  });

  it('says so when they are not there', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'empty'));
    const library = temporaryLibrary({ datasets: join(folder, 'empty') });
    await expect(importBundled(library)).rejects.toMatchObject({ code: 'BUNDLED_TEXTS_BAD' });
  });
});
