import { describe, expect, it } from 'vitest';
import { editText, previewSplit, splitText, tagTexts, undoJoin } from '../../../main/services/library/edit-texts.ts';
import { joinTexts, readText } from '../../../main/services/library/texts.ts';
import { errorOf } from '../../store/helpers.ts';
import { madeText } from '../texts/made-texts.ts';
import { type TemporaryLibrary, temporaryLibrary } from './temporary-library.ts';

const sides = ({ store }: TemporaryLibrary) => store.texts.list().map(({ title, side }) => [title, side]);

describe('editText', () => {
  it('replaces the words, and the text stays on its side', () => {
    const library = temporaryLibrary();
    const [id = 0, other = 0] = library.addTexts(12, 13);
    library.store.texts.decide(id, 'test');
    editText(library, { id, text: ' These are five new words\n', from: readText(library.store, id).hash });
    expect(library.store.texts.get(id)).toMatchObject({
      title: 'Text 0',
      text: 'These are five new words',
      words: 5,
      side: 'test',
    });
    const edit = (text: string, from = readText(library.store, id).hash) =>
      errorOf(() => editText(library, { id, text, from }));
    expect(edit('Six words', 'an older hash')).toMatchObject({ code: 'TEXT_CHANGED' });
    expect(edit(' \n')).toMatchObject({ code: 'BAD_TEXT', message: expect.stringContaining('an empty one') });
    expect(edit(library.store.texts.get(other)?.text ?? '')).toMatchObject({ code: 'TEXT_TAKEN' });
    expect(library.store.texts.get(id)?.words).toBe(5);
  });
});

describe('tagTexts', () => {
  it('adds and removes tags, all or none', () => {
    const library = temporaryLibrary();
    const ids = library.addTexts(12, 13);
    tagTexts(library, { ids, add: ['letters', 'draft'], remove: [] });
    tagTexts(library, { ids: ids.slice(1), add: ['done'], remove: ['draft'] });
    const tags = () => library.store.texts.headings().map((text) => text.tags);
    const before = [
      ['letters', 'draft'],
      ['letters', 'done'],
    ];
    expect(tags()).toEqual(before);
    expect(errorOf(() => tagTexts(library, { ids: [...ids, 99], add: ['x'], remove: [] }))).toMatchObject({
      code: 'TEXT_UNKNOWN',
    });
    const many = Array.from({ length: 20 }, (_, i) => `tag ${i}`);
    expect(errorOf(() => tagTexts(library, { ids, add: many, remove: [] }))).toMatchObject({ code: 'TOO_MANY_TAGS' });
    expect(tags()).toEqual(before);
  });
});

describe('undoJoin', () => {
  it('brings the parts back as they were, those of an earlier merge too', async () => {
    const library = temporaryLibrary();
    const ids = library.addTexts(30, 40, 50);
    tagTexts(library, { ids: ids.slice(0, 1), add: ['letters'], remove: [] });
    const before = library.store.texts.list().map(({ id: _, ...row }) => row);
    const first = await joinTexts(library, [{ ids: ids.slice(0, 2), title: 'Both' }]);
    const [inner = 0] = first.ids;
    expect(library.store.texts.heading(inner)).toMatchObject({ tags: ['letters'], merged: true, words: 70 });
    const [whole = 0] = (await joinTexts(library, [{ ids: [inner, ids[2] ?? 0], title: 'All' }])).ids;
    expect(readText(library.store, whole).parts).toEqual([
      { title: 'Both', words: 70 },
      { title: 'Text 2', words: 50 },
    ]);
    expect(undoJoin(library, whole)).toEqual({ restored: 2, known: [] });
    const again = library.store.texts.byTitle('Both')?.id ?? 0;
    expect(undoJoin(library, again)).toEqual({ restored: 2, known: [] });
    const after = library.store.texts.list().map(({ id: _, ...row }) => row);
    expect(after.toSorted((a, b) => (a.title < b.title ? -1 : 1))).toEqual(before);
    expect(library.store.texts.byTitle('Text 0')?.tags).toEqual(['letters']);
    expect(errorOf(() => undoJoin(library, ids[2] ?? 0))).toMatchObject({ code: expect.any(String) });
  });

  it('keeps parts for training that datasets were made with, and sides that were decided', async () => {
    for (const used of [false, true]) {
      const library = temporaryLibrary();
      const [a = 0, b = 0, c = 0] = library.addTexts(30, 40, 50);
      library.store.texts.decide(a, 'train');
      library.store.texts.decide(b, 'test');
      const [whole = 0] = (await joinTexts(library, [{ ids: [a, b, c], title: 'All' }])).ids;
      expect(library.store.texts.get(whole)?.side).toBe('train');
      const dataset = { name: 'd', file: 'd.jsonl', task: 'interleave', words: 10, trainN: 1, testN: 1, seed: 1 };
      if (used) library.store.datasets.record({ ...dataset, template: null, textHash: null });
      undoJoin(library, whole);
      expect(sides(library)).toEqual([
        ['Text 0', 'train'],
        ['Text 1', used ? 'train' : 'test'],
        ['Text 2', 'train'],
      ]);
    }
  });

  it('leaves out a part that is there again by now', async () => {
    const library = temporaryLibrary();
    const ids = library.addTexts(30, 40);
    const [part] = library.store.texts.list();
    const [whole = 0] = (await joinTexts(library, [{ ids, title: 'Both' }])).ids;
    library.store.texts.add({ title: 'Again', text: part?.text ?? '', source: 's', words: 30 });
    expect(undoJoin(library, whole)).toEqual({ restored: 1, known: ['Text 0'] });
    expect(library.store.texts.headings().map(({ title }) => title)).toEqual(['Again', 'Text 1']);
  });
});

describe('splitText', () => {
  const chapters = [0, 1, 2].map((i) => madeText(40 + i, 60).text);
  const book = chapters.map((text, i) => `Chapter ${i + 1}\n\n${text}`).join('\n\n');

  it('replaces a manuscript by its pieces, on its side and with its tags, after a preview', async () => {
    const library = temporaryLibrary();
    const { id } = library.store.texts.add({ title: 'The book', text: book, source: 'book.txt', words: 186 });
    library.store.texts.decide(id, 'test');
    tagTexts(library, { ids: [id], add: ['novel'], remove: [] });
    const preview = await previewSplit(library, { id, rule: null, minWords: 20 });
    expect(preview).toMatchObject({ rule: 'chapters', headings: { chapters: 3, 'markdown-1': 0 } });
    expect(preview.pieces.map(({ title, words }) => [title, words])).toEqual([
      ['The book: Chapter 1', 60],
      ['The book: Chapter 2', 60],
      ['The book: Chapter 3', 60],
    ]);
    expect(preview.stages.find(({ words }) => words === 50)).toEqual({ words: 50, before: 1, after: 3 });
    expect(library.store.texts.headings()).toHaveLength(1);
    expect(await splitText(library, { id, rule: 'chapters', minWords: 20 })).toEqual(preview);
    expect(sides(library)).toEqual(preview.pieces.map(({ title }) => [title, 'test']));
    expect(library.store.texts.headings()).toMatchObject([
      { tags: ['novel'] },
      { tags: ['novel'] },
      { tags: ['novel'] },
    ]);
  });

  it('says what is there already, and changes nothing without headings', async () => {
    const library = temporaryLibrary();
    const { id } = library.store.texts.add({ title: 'The book', text: book, source: 'book.txt', words: 186 });
    library.store.texts.add({ title: 'Known', text: chapters[1] ?? '', source: 's', words: 60 });
    const { pieces } = await previewSplit(library, { id, rule: null, minWords: 20 });
    expect(pieces.map(({ leftOut }) => leftOut)).toEqual([false, true, false]);
    expect(pieces[1]?.duplicates[0]).toMatchObject({ resembles: 'Known', kind: 'exact' });
    await expect(splitText(library, { id, rule: 'capitals', minWords: 20 })).rejects.toMatchObject({
      code: 'NO_HEADINGS',
    });
    await expect(splitText(library, { id: 99, rule: null, minWords: 20 })).rejects.toMatchObject({
      code: 'TEXT_UNKNOWN',
    });
    expect(library.store.texts.headings()).toHaveLength(2);
  });
});
