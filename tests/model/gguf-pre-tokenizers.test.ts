import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { preTokenizer } from '../../main/model/gguf/pre-tokenizers.ts';

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../parity/fixtures/tokenizers/${name}/tokenizer.json`, import.meta.url), 'utf8'))
    .pre_tokenizer;

const bytes = (more: object = {}) => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, ...more });
/** As the published files write it, in JSON. */
const split = (expression: string, more: object = { behavior: 'Isolated', invert: false }) => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: JSON.parse(`"${expression}"`) }, ...more },
    bytes({ use_regex: false }),
  ],
});
const digits = (individual_digits: boolean) => ({
  type: 'Sequence',
  pretokenizers: [{ type: 'Digits', individual_digits }, bytes({ use_regex: true })],
});
const REMOVED = { behavior: 'Removed', invert: true };
const CL100K = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const O200K = String.raw`[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const TEKKEN = String.raw`[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const QWEN35 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

describe('preTokenizer', () => {
  it("knows the families' published expressions", () => {
    expect(preTokenizer(fixture('llama3'), true)).toBe('llama-bpe');
    expect(preTokenizer(fixture('qwen2'), false)).toBe('qwen2');
    expect([preTokenizer(split(CL100K), true), preTokenizer(split(CL100K, REMOVED), false)]).toEqual([
      ...['llama-bpe', 'dbrx'],
    ]);
    expect([preTokenizer(split(O200K, REMOVED), false), preTokenizer(split(TEKKEN), true)]).toEqual([
      ...['gpt-4o', 'tekken'],
    ]);
    expect(preTokenizer(split(QWEN35), false)).toBe('qwen35');
    expect([preTokenizer(digits(true), false), preTokenizer(bytes(), false)]).toEqual(['smollm', 'gpt-2']);
  });

  it('takes no other for one of them', () => {
    const similar = [
      ...[null, { type: 'WhitespaceSplit' }, bytes({ add_prefix_space: true }), bytes({ use_regex: false })],
      ...[digits(false), split(`${CL100K}|x`), split(CL100K, { ...REMOVED, invert: false })],
      ...[split(CL100K, { behavior: 'MergedWithPrevious', invert: false })],
      { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, split(CL100K)] },
    ];
    expect(similar.map((pre) => preTokenizer(pre, false))).toEqual(similar.map(() => null));
    // llama.cpp would merge where these take whole words.
    expect([preTokenizer(split(O200K), true), preTokenizer(bytes(), true)]).toEqual([null, null]);
  });
});
