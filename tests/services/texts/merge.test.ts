import { describe, expect, it } from 'vitest';
import { mergeTexts } from '../../../main/services/texts/merge.ts';
import { corpusText, type SourceText, titleOf } from '../../../main/services/texts/source-text.ts';
import { madeText, madeTexts } from './made-texts.ts';

const source = (title: string, text: string): SourceText => ({ id: title, title, text, source: 'new.txt' });

describe('mergeTexts', () => {
  it('adds what is new and counts its words', () => {
    const merged = mergeTexts(madeTexts(20, 30), [source('New', 'five words in this text')]);
    expect(merged.texts).toHaveLength(3);
    expect(merged.added).toMatchObject([{ title: 'New', words: 5, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect([merged.removed, merged.duplicates]).toEqual([[], []]);
  });

  it('leaves out exact duplicates, whatever their case and spacing', () => {
    const [old] = madeTexts(20);
    const merged = mergeTexts(madeTexts(20), [
      source('Copy', `\n${(old?.text ?? '').toUpperCase().replace(' ', '  ')}`),
    ]);
    expect(merged.added).toEqual([]);
    expect(merged.duplicates).toEqual([
      {
        kind: 'exact',
        title: 'Copy',
        source: 'new.txt',
        resembles: 'Text 0',
        similarity: 1,
        kept: 'earlier',
        place: { kind: 'corpus', id: 'text-0' },
      },
    ]);
  });

  it('leaves out copies that differ in what nobody sees, also of texts that were stored with it', () => {
    const clean = `The offi\u0063e caf\u00e9 was first: ${madeText(0, 20).text}`;
    const copy = clean.replace('office', 'of\ufb01ce').replace('fi', '\ufb01').replace('\u00e9', 'e\u0301');
    const hidden = `\ufeff${copy.replace('The ', 'T\u00adhe\u00a0\u200b \u200b ')}`;
    for (const [old, next] of [
      [clean, hidden],
      [hidden, clean],
    ] as const) {
      const merged = mergeTexts([corpusText(source('Old', old))], [source('Copy', next)]);
      expect(merged.duplicates).toMatchObject([{ kind: 'exact', resembles: 'Old' }]);
    }
  });

  it('leaves out near duplicates in a script without spaces', () => {
    const text = '春天的早晨，小河边的柳树发出了嫩芽。孩子们在草地上奔跑，笑声传得很远。';
    const merged = mergeTexts([], [source('One', text), source('Two', text.replace('奔跑', '唱歌'))]);
    expect(merged.duplicates).toMatchObject([{ kind: 'near', resembles: 'One' }]);
  });

  it('leaves out near duplicates and says what they resemble', () => {
    const words = madeText(0, 100).text.split(' ');
    const edited = words.map((word, i) => (i === 50 ? 'changed' : word)).join(' ');
    const merged = mergeTexts(madeTexts(100, 100), [source('Edited', edited)]);
    expect(merged.added).toEqual([]);
    expect(merged.duplicates).toMatchObject([{ kind: 'near', title: 'Edited', resembles: 'Text 0', kept: 'earlier' }]);
    expect(merged.duplicates[0]?.similarity).toBeCloseTo(93 / 97, 2);
  });

  it('keeps the longer version of a text', () => {
    const longer = `${madeText(0, 100).text} ${madeText(7, 200).text}`;
    const merged = mergeTexts(madeTexts(100, 100), [source('Whole', longer)]);
    expect(merged.removed.map((text) => text.title)).toEqual(['Text 0']);
    expect(merged.texts.map((text) => text.title)).toEqual(['Text 1', 'Whole']);
    expect(merged.duplicates).toMatchObject([{ kind: 'near', resembles: 'Text 0', similarity: 1, kept: 'new' }]);
    const back = mergeTexts(merged.texts, [source('Part', madeText(0, 100).text)]);
    expect(back.added).toEqual([]);
  });

  it('finds duplicates among the new texts themselves', () => {
    const text = madeText(3, 40).text;
    expect(mergeTexts([], [source('One', text), source('Two', text)]).texts).toHaveLength(1);
  });

  it('keeps ids and titles apart', () => {
    const merged = mergeTexts(
      [],
      [source('Same', 'one text here'), source('Same', 'another thing'), source('Same', 'third')],
    );
    expect(merged.texts.map((text) => text.title)).toEqual(['Same', 'Same (2)', 'Same (3)']);
    expect(merged.texts.map((text) => text.id)).toEqual(['Same', 'Same-2', 'Same-3']);
  });
});

describe('titleOf', () => {
  it('is one line of bounded length', () => {
    expect(titleOf(' a\n b ', '')).toBe('a b');
    expect(titleOf('x'.repeat(500), '')).toHaveLength(120);
    expect(titleOf('', 'one two')).toBe('one two');
  });
});
