import { describe, expect, it } from 'vitest';
import { cutAfterStop, openStops } from '../../main/model/stop-strings.ts';
import type { Tokenizer } from '../../main/model/tokenizer.ts';

/** A tokenizer of these tokens, which decodes by bytes as transformers' decoders do. */
function tokenizerOf(kind: Tokenizer['bytesAs'], tokens: readonly string[]): Tokenizer {
  const text = (token: string, isFirst: boolean): string => {
    const spaced = token.replaceAll('▁', ' ').replaceAll('Ġ', ' ').replaceAll('Ċ', '\n');
    return isFirst && kind !== 'characters' ? spaced.replace(/^ /, '') : spaced;
  };
  return {
    bytesAs: kind,
    encode: () => [0],
    token: (id: number) => tokens[id],
    decode: (ids: readonly number[]) => ids.map((id, i) => text(tokens[id] ?? '', i === 0)).join(''),
  } as unknown as Tokenizer;
}

/** Which of these completions' tokens end it, one after the other. */
function ends(tokenizer: Tokenizer, stops: readonly string[], ids: readonly number[], prompt: readonly number[] = []) {
  const test = openStops(tokenizer, stops);
  return ids.map((_, i) => test?.(prompt, ids.slice(0, i + 1)));
}

describe('openStops', () => {
  // GPT-2's form: é is Ã and ©, the second byte of it a token of its own.
  const bpe = tokenizerOf('characters', ['a', 'Ġst', 'op', 'Ċ', 'ĊĊ', '.Ċ', 'Ã', '©', 'pen', 'Ġstopped']);
  // SentencePiece: a space before a word, and bytes by name.
  const piece = tokenizerOf('names', ['a', '▁st', 'op', '<0x0A>', '▁', '.', '<0xC3>', '<0xA9>', 'pen', '▁stopped']);

  it.each([
    ['BPE', bpe],
    ['SentencePiece', piece],
  ])('finds a string across the borders of tokens of %s, token by token', (_, tokenizer) => {
    expect(ends(tokenizer, [' stop'], [0, 1, 2])).toEqual([false, false, true]);
    expect(ends(tokenizer, ['stop'], [0, 1, 2])).toEqual([false, false, true]);
    // Its end lies inside a longer token, which is the last.
    expect(ends(tokenizer, ['a sto'], [0, 9])).toEqual([false, true]);
    expect(ends(tokenizer, ['to'], [9])).toEqual([true]);
    // Only where it ends in the newest token.
    expect(ends(tokenizer, ['a st'], [0, 1, 2])).toEqual([false, true, false]);
    expect(ends(tokenizer, ['never', 'oppe'], [2, 8])).toEqual([false, true]);
    // Bytes of a character that are tokens of their own.
    expect(ends(tokenizer, ['aé'], [0, 6, 7])).toEqual([false, false, true]);
    // A string may begin in the prompt.
    expect(ends(tokenizer, ['a stop'], [1, 2], [0])).toEqual([false, true]);
    expect(ends(tokenizer, ['xa'], [0])).toEqual([false]);
  });

  it('finds line ends, alone and within tokens', () => {
    expect(ends(bpe, ['\n\n'], [3, 3])).toEqual([false, true]);
    expect(ends(bpe, ['\n'], [4])).toEqual([true]);
    expect(ends(bpe, ['\n'], [5])).toEqual([true]);
    expect(ends(piece, ['.\n'], [5, 3])).toEqual([false, true]);
  });

  it('is not there without strings', () => expect(openStops(bpe, [])).toBe(undefined));
});

describe('cutAfterStop', () => {
  it('leaves out what follows the first string to end', () => {
    expect(cutAfterStop('one END two', ['never', 'END'])).toBe('one END');
    expect(cutAfterStop('one. two\n', ['\n', '.'])).toBe('one.');
    expect(cutAfterStop('one', ['END'])).toBe('one');
  });
});
