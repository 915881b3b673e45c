import { describe, expect, it } from 'vitest';
import { divideCorpus, sidesOf } from '../../../main/services/datasets/generate.ts';
import { compareTexts, resolvePair, similarTexts } from '../../../main/services/library/similar.ts';
import { storedTexts } from '../../../main/services/texts/index.ts';
import { madeText } from '../texts/made-texts.ts';
import { temporaryLibrary } from './temporary-library.ts';

function withPair() {
  const library = temporaryLibrary();
  library.addTexts(40, 50, 60, 70);
  const { text } = madeText(20, 60);
  const add = (title: string, words: string) =>
    library.store.texts.add({ title, text: words, source: 's', words: 60 }).id;
  const first = add('Draft', text);
  const second = add('Final', text.replace(/\S+$/, 'changed'));
  return { library, first, second };
}

const titles = ({ store }: ReturnType<typeof temporaryLibrary>) => store.texts.headings().map(({ title }) => title);

describe('similarTexts', () => {
  it('finds near duplicates, and compares them word by word', async () => {
    const { library, first, second } = withPair();
    const [pair, ...more] = await similarTexts(library);
    expect(more).toEqual([]);
    expect(pair).toMatchObject({ first: { title: 'Draft' }, second: { title: 'Final' } });
    expect(pair?.similarity).toBeGreaterThan(0.9);
    const { runs } = await compareTexts(library, first, second);
    expect(runs.map(({ kind, words }) => [kind, words.length])).toEqual([
      ['same', 59],
      ['first', 1],
      ['second', 1],
    ]);
    await expect(compareTexts(library, first, 99)).rejects.toMatchObject({ code: 'TEXT_UNKNOWN' });
  });
});

describe('resolvePair', () => {
  it('keeps both on one side, also when datasets are made, and asks no more', async () => {
    const { library, first, second } = withPair();
    library.store.texts.decide(second, 'test');
    resolvePair(library, { first, second, keep: 'both' });
    expect(await similarTexts(library)).toEqual([]);
    const divided = sidesOf(divideCorpus(storedTexts(library.store), 3));
    expect(divided.filter(({ id }) => [first, second].includes(Number(id)))).toMatchObject([
      { id: String(first), side: 'test' },
      { id: String(second), side: 'test' },
    ]);
  });

  it('keeps one, with the tags of both, and for training if either was', () => {
    for (const keep of ['first', 'second'] as const) {
      const { library, first, second } = withPair();
      library.store.texts.decide(first, 'train');
      library.store.texts.decide(second, 'test');
      library.store.texts.setTags(first, ['a']);
      library.store.texts.setTags(second, ['b']);
      resolvePair(library, { first, second, keep });
      expect(titles(library).slice(4)).toEqual([keep === 'first' ? 'Draft' : 'Final']);
      const kept = library.store.texts.heading(keep === 'first' ? first : second);
      expect(kept?.tags.toSorted()).toEqual(['a', 'b']);
      expect(library.store.texts.list().at(-1)?.side).toBe('train');
    }
  });
});
