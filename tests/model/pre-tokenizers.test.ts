import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';

/** The pieces of a text: a vocabulary of these pieces has a token for each. */
function piecesOf(pre_tokenizer: object, text: string, expected: readonly string[]): (string | undefined)[] {
  const folder = temporaryFolder();
  const vocab = Object.fromEntries(['?', ...new Set(expected)].map((piece, id) => [piece, id]));
  const model = { type: 'WordLevel', vocab, unk_token: '?' };
  const rest = { added_tokens: [], normalizer: null, post_processor: null, decoder: null };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ ...rest, model, pre_tokenizer }));
  const tokenizer = loadTokenizer(folder);
  return tokenizer.encode(text).map((id) => tokenizer.token(id));
}

const split = (pattern: object, behavior: string, invert = false) => ({ type: 'Split', pattern, behavior, invert });
const dash = { String: '-' };

// Pieces as tokenizers 0.23.2 (Python) cuts these texts.
describe('pre-tokenizers', () => {
  it.each<[string, object, string, string[]]>([
    ['Whitespace', { type: 'Whitespace' }, 'naïve café, x_y‿z²½', ['naïve', 'café', ',', 'x_y‿z', '²½']],
    ['Whitespace', { type: 'Whitespace' }, 'क्षि ①② a\u200db', ['क्षि', '①②', 'a\u200db']],
    ['WhitespaceSplit', { type: 'WhitespaceSplit' }, 'a\u0085b\ufeffc d', ['a', 'b\ufeffc', 'd']],
    ['BertPreTokenizer', { type: 'BertPreTokenizer' }, 'a\u0085b\ufeffc, d', ['a', 'b\ufeffc', ',', 'd']],
    ['FixedLength', { type: 'FixedLength', length: 2 }, 'a😀bc', ['a😀', 'bc']],
    [
      'Punctuation, isolated',
      { type: 'Punctuation', behavior: 'Isolated' },
      'hey!!! $^€`',
      ['hey', '!', '!', '!', ' ', '$', '^', '€', '`'],
    ],
    ['Punctuation, contiguous', { type: 'Punctuation', behavior: 'Contiguous' }, 'hey!!! a', ['hey', '!!!', ' a']],
    ['Punctuation, removed', { type: 'Punctuation', behavior: 'Removed' }, 'hey!!! a', ['hey', ' a']],
    ['Split, contiguous', split(dash, 'Contiguous'), '--a--b', ['--', 'a', '--', 'b']],
    ['Split, removed', split(dash, 'Removed'), '--a--b', ['a', 'b']],
    ['Split, inverted', split(dash, 'Isolated', true), '-a--b', ['-', 'a', '-', '-', 'b']],
    ['Split, merged with previous', split(dash, 'MergedWithPrevious'), '--a--b', ['-', '-', 'a-', '-', 'b']],
    ['Split, merged with next', split(dash, 'MergedWithNext'), '--a--b-', ['-', '-a', '-', '-b', '-']],
    [
      'ByteLevel',
      { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
      '\ufeffs a\u0085 b',
      ['ï»¿', 's', 'Ġa', 'Âħ', 'Ġb'],
    ],
    [
      'ByteLevel with a space before the text',
      { type: 'ByteLevel', add_prefix_space: true, use_regex: true },
      '👋 \ufeff$',
      ['ĠðŁĳĭ', 'Ġï»¿$'],
    ],
    ['Metaspace', { type: 'Metaspace', replacement: '▁' }, 'a   b', ['▁a', '▁', '▁', '▁b']],
    [
      'Metaspace of older files',
      { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
      ' a b ',
      ['▁a', '▁b', '▁'],
    ],
    [
      'Metaspace without a prefix',
      { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', add_prefix_space: false, str_rep: '_' },
      'a▁▁b',
      ['a', '▁', '▁b'],
    ],
    ['Metaspace in one piece', { type: 'Metaspace', replacement: '_', split: false }, 'a  b', ['_a__b']],
    [
      'a part of a sequence',
      { type: 'Sequence', pretokenizers: [{ type: 'Whitespace' }, { type: 'Punctuation', behavior: 'Isolated' }] },
      'é!! b',
      ['é', '!', '!', 'b'],
    ],
  ])('cut a text as Hugging Face does: %s', (_, pre, text, pieces) => {
    expect(piecesOf(pre, text, pieces)).toEqual(pieces);
  });

  it('have a decoder that takes all spaces of the first token away, as Hugging Face does', () => {
    const folder = temporaryFolder();
    const vocab = { '▁▁': 0, '▁a': 1, ' b': 2 };
    const rest = { added_tokens: [], normalizer: null, post_processor: null, pre_tokenizer: null };
    const model = { type: 'WordLevel', vocab, unk_token: ' b' };
    writeFileSync(
      join(folder, 'tokenizer.json'),
      JSON.stringify({ ...rest, model, decoder: { type: 'Metaspace', replacement: '▁' } }),
    );
    const { decode } = loadTokenizer(folder);
    expect([decode([0, 1]), decode([1, 0]), decode([2, 2])]).toEqual([' a', 'a  ', ' b b']);
  });

  it('are refused where Hugging Face refuses them, or where the library would cut elsewhere', () => {
    const metaspace = { type: 'Metaspace', replacement: '▁' };
    const reasonOf = (pre: object): string => fault(() => piecesOf(pre, 'a', ['a']))[1];
    expect(reasonOf({ ...metaspace, add_prefix_space: false })).toContain('as "add_prefix_space" is false');
    expect(reasonOf({ ...metaspace, replacement: '' })).toContain('to be one character, got ""');
    expect(reasonOf({ ...metaspace, prepend_scheme: 'last' })).toContain('got "last"');
    const late = { ...metaspace, prepend_scheme: 'first' };
    expect(reasonOf({ type: 'Sequence', pretokenizers: [{ type: 'Whitespace' }, late] })).toContain('to be the first');
  });

  it('are refused where no regular expression gives the same pieces', () => {
    expect(fault(() => piecesOf(split(dash, 'MergedWithNext', true), 'a', ['a']))).toEqual([
      'BAD_TOKENIZER',
      expect.stringContaining('MergedWithNext'),
    ]);
  });
});
