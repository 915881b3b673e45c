import { describe, expect, it } from 'vitest';
import { commonTags, tagChange, tagsOf } from '../../../renderer/texts/tags.ts';

const texts = [{ tags: ['b', 'a'] }, { tags: ['a', 'c'] }];

describe('tags of texts', () => {
  it('are listed once, by name, and those that all have', () => {
    expect(tagsOf(texts)).toEqual(['a', 'b', 'c']);
    expect(commonTags(texts)).toEqual(['a']);
    expect(commonTags([])).toEqual([]);
    expect(tagChange(['a', 'b'], ['b', 'd'])).toEqual({ add: ['d'], remove: ['a'] });
  });
});
