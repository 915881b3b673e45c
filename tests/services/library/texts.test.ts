import { describe, expect, it } from 'vitest';
import { undoRemove } from '../../../main/services/library/edit-texts.ts';
import {
  joinTexts,
  listTexts,
  overviewOf,
  previewJoin,
  readText,
  removeTexts,
  renameText,
} from '../../../main/services/library/texts.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryLibrary } from './temporary-library.ts';

describe('listTexts', () => {
  it('finds a part of title, source or words, and takes wildcards as they are', () => {
    const { store } = temporaryLibrary();
    store.texts.add({ title: 'Rain', text: 'the river bends', source: 'a.txt', words: 3 });
    store.texts.add({ title: 'Snow', text: '100% white', source: 'b_c.txt', words: 2 });
    const found = (search: string) => listTexts(store, search).map(({ title }) => title);
    expect(['RIVER', 'snow', 'b_c', '%', 'xx', ' '].map(found)).toEqual([
      ['Rain'],
      ['Snow'],
      ['Snow'],
      ['Snow'],
      [],
      ['Rain', 'Snow'],
    ]);
    // As a file of a Mac is named, and as it is typed.
    store.texts.add({ title: 'Cafe\u0301 Übel', text: 'и Река', source: 'c.txt', words: 2 });
    for (const search of ['café', 'ÜBEL', 'река']) expect(found(search), search).toEqual(['Cafe\u0301 Übel']);
  });
});

describe('readText', () => {
  it('gives the beginning of a very long text', () => {
    const { store } = temporaryLibrary();
    const { id } = store.texts.add({ title: 'Long', text: 'x '.repeat(150_000), source: 's', words: 150_000 });
    expect(readText(store, id)).toMatchObject({ title: 'Long', more: 100_000 });
    expect(errorOf(() => readText(store, 99))).toMatchObject({ code: 'TEXT_UNKNOWN' });
  });
});

describe('overviewOf', () => {
  it('counts, and says what is held out', async () => {
    const library = temporaryLibrary();
    library.addTexts(12, 30, 30, 12, 600);
    const seen = await overviewOf(library, { train: 10, test: 5, seed: 7 });
    expect(seen).toMatchObject({ texts: 5, words: 684, lengths: [12, 12, 30, 30, 600] });
    expect(seen.testing.length).toBeGreaterThanOrEqual(2);
    expect(seen.stages[0]).toMatchObject({ words: 10, texts: 5, shortage: null });
    expect(seen.stages[5]?.shortage).toContain('add 3 such texts');
  });
});

describe('renameText', () => {
  it('changes the title, but not to one that is taken', () => {
    const library = temporaryLibrary();
    const [first = 0] = library.addTexts(12, 13);
    renameText(library, first, '  New   title ');
    expect(library.store.texts.get(first)?.title).toBe('New title');
    renameText(library, first, 'New title');
    expect(errorOf(() => renameText(library, first, 'Text 1'))).toMatchObject({ code: 'TITLE_TAKEN' });
    expect(errorOf(() => renameText(library, 99, 'x'))).toMatchObject({ code: 'TEXT_UNKNOWN' });
  });
});

describe('removeTexts', () => {
  it('removes all or none', () => {
    const library = temporaryLibrary();
    const ids = library.addTexts(12, 13, 14);
    expect(errorOf(() => removeTexts(library, [...ids, 99]))).toMatchObject({ code: 'TEXT_UNKNOWN' });
    expect(library.store.texts.headings()).toHaveLength(3);
    removeTexts(library, ids.slice(1));
    expect(library.store.texts.headings()).toMatchObject([{ words: 12 }]);
  });
});

describe('undoRemove', () => {
  it('brings back what was removed, once, with its tags, date and parts', async () => {
    const library = temporaryLibrary();
    const { texts } = library.store;
    const [first = 0, second = 0] = library.addTexts(12, 13);
    const [merged = 0] = (await joinTexts(library, [{ ids: [first, second], title: 'Both' }])).ids;
    texts.setTags(merged, ['river']);
    texts.setAddedAt(merged, 1234);
    const { id: _, ...before } = texts.headings()[0] ?? {};
    const removal = removeTexts(library, [merged]);
    expect(texts.headings()).toEqual([]);
    expect(undoRemove(library, removal)).toEqual({ restored: 1, known: [] });
    expect(texts.headings()).toMatchObject([before]);
    expect(texts.parts(texts.headings()[0]?.id ?? 0)).toHaveLength(2);
    expect(errorOf(() => undoRemove(library, removal))).toMatchObject({ code: 'REMOVAL_GONE' });
  });
});

describe('joinTexts', () => {
  it('replaces parts with the merged text, in order, after a preview that changes nothing', async () => {
    const library = temporaryLibrary();
    const [a = 0, b = 0, c = 0] = library.addTexts(30, 40, 50);
    const texts = [c, a].map((id) => library.store.texts.get(id)?.text);
    const groups = [{ ids: [c, a], title: 'Both' }];
    const plan = await previewJoin(library, groups);
    expect(plan.joined).toMatchObject([
      { title: 'Both', words: 80, parts: [{ id: c }, { id: a }], duplicates: [], leftOut: false },
    ]);
    expect(plan.stages.slice(1, 3)).toEqual([
      { words: 25, before: 3, after: 2 },
      { words: 50, before: 1, after: 1 },
    ]);
    expect(library.store.texts.headings()).toHaveLength(3);
    expect(await joinTexts(library, groups)).toMatchObject(plan);
    const [left, whole] = library.store.texts.list();
    expect(left?.id).toBe(b);
    expect(whole).toMatchObject({ title: 'Both', text: texts.join('\n\n'), source: 'made', words: 80 });
  });

  it('keeps the parts of a whole that is left out as a duplicate', async () => {
    const library = temporaryLibrary();
    const [a = 0, b = 0] = library.addTexts(300, 10);
    const whole = [a, b].map((id) => library.store.texts.get(id)?.text).join(' ');
    library.store.texts.add({ title: 'Known', text: whole, source: 's', words: 310 });
    const { joined } = await joinTexts(library, [{ ids: [a, b], title: 'Again' }]);
    expect(joined).toMatchObject([{ leftOut: true, duplicates: [{ resembles: 'Known' }] }]);
    expect(library.store.texts.headings()).toHaveLength(3);
  });

  it('rejects one text alone, a text twice, and a text that is gone', async () => {
    const library = temporaryLibrary();
    const [a = 0, b = 0] = library.addTexts(30, 40);
    const join = (...groups: readonly number[][]) =>
      joinTexts(
        library,
        groups.map((ids) => ({ ids, title: 'T' })),
      );
    await expect(join([a])).rejects.toMatchObject({ code: 'BAD_JOIN' });
    await expect(join([a, b], [b, a])).rejects.toMatchObject({ code: 'BAD_JOIN' });
    await expect(join([a, 99])).rejects.toMatchObject({ code: 'TEXT_UNKNOWN' });
  });
});
