import { describe, expect, it } from 'vitest';
import { suggestJoin } from '../../../renderer/texts/suggest-join.ts';

const text = (id: number, words: number, source = 's') => ({ id, title: `T${id}`, words, source });
const ids = (groups: readonly (readonly { readonly id: number }[])[]) =>
  groups.map((group) => group.map(({ id }) => id));

describe('suggestJoin', () => {
  it('groups neighbours of a source until they are long enough', () => {
    const texts = [text(1, 40), text(2, 30, 'other'), text(3, 70), text(4, 200), text(5, 60), text(6, 50)];
    expect(ids(suggestJoin(texts, 100, 9))).toEqual([
      [1, 3],
      [5, 6],
    ]);
  });

  it('returns no more groups than asked for, and none that are too short', () => {
    expect(ids(suggestJoin([text(1, 60), text(2, 60), text(3, 60), text(4, 60)], 100, 1))).toEqual([[1, 2]]);
    expect(suggestJoin([text(1, 40), text(2, 40)], 100, 9)).toEqual([]);
  });
});
