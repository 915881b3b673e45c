import { describe, expect, it } from 'vitest';
import { braided, promptParts } from '../../../renderer/texts/strands.ts';

const shown = (words: readonly { readonly strand: string | null; readonly text: string }[]) =>
  words.map(({ strand, text }) => `${strand ?? '-'}:${text}`);

describe('braided', () => {
  it('alternates words, then appends the rest of the longer fragment', () => {
    expect(shown(braided('red  green blue', 'one two'))).toEqual(['a:red', 'b:one', 'a:green', 'b:two', 'a:blue']);
    expect(shown(braided('', 'one'))).toEqual(['b:one']);
  });
});

describe('promptParts', () => {
  it('finds the fragments wherever the template puts them', () => {
    expect(shown(promptParts('A: red B: one.', 'red', 'one'))).toEqual(['-:A: ', 'a:red', '-: B: ', 'b:one', '-:.']);
    expect(shown(promptParts('one then red', 'red', 'one'))).toEqual(['b:one', '-: then ', 'a:red']);
  });

  it('returns the whole prompt if a fragment is missing or part of the other', () => {
    expect(shown(promptParts('nothing', 'red', 'one'))).toEqual(['-:nothing']);
    expect(shown(promptParts('red one red', 'red one red', 'one'))).toEqual(['a:red one red']);
  });
});
