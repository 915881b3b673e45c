import { describe, expect, it } from 'vitest';
import { isNearDuplicate, resemblance, shingleIndex, shingles } from '../../main/text/near-duplicates.ts';

const story = 'the old ferry crossed the river twice a day and carried mostly goats and letters to the far bank';
const other = 'bread dough wants time more than it wants hands and a cool kitchen gives it plenty of both';

describe('shingles', () => {
  it('are the runs of four words, without case or punctuation', () => {
    expect([...shingles('One two, three—four FIVE!')]).toEqual(['one two three four', 'two three four five']);
  });

  it('of a short text are the text itself', () => {
    expect([...shingles('Just this.')]).toEqual(['just this']);
  });
});

describe('resemblance', () => {
  it('is Jaccard similarity and containment', () => {
    const a = new Set(['1', '2', '3', '4']);
    expect(resemblance(a, new Set(['3', '4', '5']))).toEqual({ jaccard: 2 / 5, containment: 2 / 3 });
  });
});

describe('isNearDuplicate', () => {
  it('takes much in common, or one within the other', () => {
    expect(isNearDuplicate({ jaccard: 0.5, containment: 0.6 })).toBe(true);
    expect(isNearDuplicate({ jaccard: 0.1, containment: 0.9 })).toBe(true);
    expect(isNearDuplicate({ jaccard: 0.4, containment: 0.6 })).toBe(false);
  });
});

describe('shingleIndex', () => {
  it('finds an edited copy and an excerpt, and nothing in a different text', () => {
    const index = shingleIndex();
    index.add(other);
    index.add(story);
    expect(index.nearDuplicates(story.replace('goats', 'sheep'))[0]?.index).toBe(1);
    expect(index.nearDuplicates(story.split(' ').slice(0, 9).join(' '))[0]).toMatchObject({ index: 1, containment: 1 });
    expect(index.nearDuplicates('a wholly different sentence that shares no run of words with either')).toEqual([]);
  });

  it('puts the most alike first', () => {
    const index = shingleIndex();
    index.add(story.replace('twice', 'once'));
    index.add(story);
    expect(index.nearDuplicates(story).map((found) => found.index)).toEqual([1, 0]);
  });
});
