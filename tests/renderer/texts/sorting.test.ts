import { describe, expect, it } from 'vitest';
import { nextOrder, sortTexts } from '../../../renderer/texts/sorting.ts';

const text = (id: number, title: string, words: number) => ({
  id,
  title,
  words,
  source: 's',
  tags: [],
  merged: false,
  addedAt: id,
});
const texts = [text(1, 'page 10', 5), text(2, 'Page 9', 7), text(3, 'apple', 5)];
const ids = (by: 'title' | 'words', descending: boolean) => sortTexts(texts, { by, descending }).map(({ id }) => id);

describe('sortTexts', () => {
  it('sorts titles naturally and numbers as numbers; ties keep their order', () => {
    expect(ids('title', false)).toEqual([3, 2, 1]);
    expect(ids('words', false)).toEqual([1, 3, 2]);
    expect(ids('words', true)).toEqual([2, 1, 3]);
  });
});

describe('nextOrder', () => {
  it('reverses the same column and starts numbers with the largest', () => {
    const byTitle = { by: 'title', descending: false } as const;
    expect(nextOrder(byTitle, 'title')).toEqual({ by: 'title', descending: true });
    expect(nextOrder(byTitle, 'words')).toEqual({ by: 'words', descending: true });
    expect(nextOrder({ by: 'words', descending: true }, 'title')).toEqual(byTitle);
  });
});
