import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';

/** The tokens of a text; a WordLevel vocabulary has one for each that is expected. */
function tokensOf(parts: object, text: string, expected: readonly string[]): (string | undefined)[] {
  const vocab = Object.fromEntries(['?', ...new Set(expected)].map((token, id) => [token, id]));
  const tokenizer = read({ ...parts, model: { type: 'WordLevel', vocab, unk_token: '?' } });
  return tokenizer.encode(text).map((id) => tokenizer.token(id));
}

function read(parts: object): ReturnType<typeof loadTokenizer> {
  const folder = temporaryFolder();
  const none = { added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ ...none, ...parts }));
  return loadTokenizer(folder);
}

const bert = { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true };

// Texts as tokenizers 0.23.2 (Python) makes of these.
describe('normalizers', () => {
  it.each<[string, object, string, string]>([
    ['Lowercase, a final sigma', { type: 'Lowercase' }, 'ΟΔΟΣ', 'οδοσ'],
    [
      'Strip',
      { type: 'Strip', strip_left: true, strip_right: true },
      '\u0085 \ufeffa b\ufeff \u0085',
      '\ufeffa b\ufeff',
    ],
    ['Strip, left', { type: 'Strip', strip_left: true, strip_right: false }, ' a ', 'a '],
    ['Replace by a dollar sign', { type: 'Replace', pattern: { String: 'e' }, content: '$&$$' }, 'bed', 'b$&$$d'],
    [
      'a sequence',
      { type: 'Sequence', normalizers: [{ type: 'NFKC' }, { type: 'Lowercase' }] },
      'ﬁ Σ\u0301Σ',
      'fi σ\u0301σ',
    ],
    ['BERT, a final sigma', bert, 'ΑΣ', 'ασ'],
    ['BERT, rare Han characters', bert, 'a\u{20BB7}b', 'a \u{20BB7} b'],
  ])('make of a text what Hugging Face does: %s', (_, normalizer, text, normalized) => {
    expect(tokensOf({ normalizer }, text, [normalized])).toEqual([normalized]);
  });
});

describe('models and decoders', () => {
  it("know WordLevel's token for unknown words", () => {
    expect(tokensOf({ pre_tokenizer: { type: 'WhitespaceSplit' } }, 'a b', ['a'])).toEqual(['a', '?']);
  });

  it('refuse a BPE model with a prefix inside words, which the library ignores', () => {
    const model = { type: 'BPE', vocab: { a: 0, '##b': 1 }, merges: [], continuing_subword_prefix: '##' };
    expect(fault(() => read({ model }))).toEqual([
      'BAD_TOKENIZER',
      expect.stringContaining('"continuing_subword_prefix"'),
    ]);
  });

  it('keep a first space that no tokenizer put there', () => {
    const decoder = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', split: true };
    const model = { type: 'BPE', vocab: { '▁': 0, a: 1 }, merges: [] };
    expect(read({ decoder, model }).decode([0, 1, 0])).toBe(' a ');
  });

  it('keep a byte order mark that is spelled in bytes', () => {
    const vocab = { '<0xEF>': 0, '<0xBB>': 1, '<0xBF>': 2, a: 3 };
    const decoder = { type: 'Sequence', decoders: [{ type: 'ByteFallback' }, { type: 'Fuse' }] };
    const model = { type: 'BPE', vocab, merges: [], byte_fallback: true };
    expect(read({ decoder, model }).decode([3, 0, 1, 2, 3])).toBe('a\ufeffa');
  });
});
