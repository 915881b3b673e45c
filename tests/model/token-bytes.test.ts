import { describe, expect, it } from 'vitest';
import { openSpellings } from '../../main/model/token-bytes.ts';
import type { Tokenizer } from '../../main/model/tokenizer.ts';

/** Tokens of "a", " 🦑" in two parts and " é", as a byte-level BPE and as SentencePiece name them. */
const FORMS = [
  ['characters', ['a', 'ĠðŁ', '¦ĳ', 'ĠÃ©'], [[97], [32, 0xf0, 0x9f], [0xa6, 0x91], [32, 0xc3, 0xa9]]],
  ['names', ['a', '<0xF0>', '<0x9F>', '▁é'], [[97], [0xf0], [0x9f], [32, 0xc3, 0xa9]]],
] as const;

describe('openSpellings', () => {
  it.each(FORMS)('gives the bytes of tokens that are part of a character, named as %s', (bytesAs, tokens, bytes) => {
    const spelling = openSpellings({
      bytesAs,
      encode: () => [0],
      token: (id) => tokens[id],
      decode: (ids) => Buffer.from(ids.flatMap((id) => bytes[id] ?? [])).toString(),
    } satisfies Partial<Tokenizer>);
    expect(spelling(0)).toEqual({ text: 'a' });
    expect(spelling(1).text).toMatch(/^ ?\uFFFD$/);
    expect(spelling(1).bytes).toEqual(bytes[1]);
    expect(spelling(2).bytes).toEqual(bytes[2]);
    expect(spelling(3)).toEqual({ text: ' é' });
  });
});
