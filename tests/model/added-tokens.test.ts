import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Parts {
  readonly normalizer?: string;
  readonly pre_tokenizer?: object;
  readonly decoder?: object;
  /** Of the vocabulary, in the order of their ids. */
  readonly own: readonly string[];
  /** Behind them, or one of them. */
  readonly added: Readonly<Record<string, { normalized: boolean; lstrip?: boolean }>>;
}

function read({ normalizer, own, added, ...parts }: Parts): ReturnType<typeof loadTokenizer> {
  const ids = new Map([...new Set([...own, ...Object.keys(added)])].map((token, id) => [token, id]));
  const added_tokens = Object.entries(added)
    .map(([content, how]) => ({ id: ids.get(content) ?? 0, content, special: false, ...how }))
    .sort((a, b) => a.id - b.id);
  const model = {
    type: 'BPE',
    vocab: Object.fromEntries(own.map((token, id) => [token, id])),
    merges: [],
    unk_token: '?',
  };
  const none = { pre_tokenizer: null, post_processor: null, decoder: null };
  const folder = temporaryFolder();
  const file = {
    ...none,
    ...parts,
    normalizer: normalizer === undefined ? null : { type: normalizer },
    added_tokens,
    model,
  };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(file));
  return loadTokenizer(folder);
}

const bytes = {
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
  decoder: { type: 'ByteLevel' },
};
const first = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true };

// Ids and texts as tokenizers 0.23.3 (Python) makes of these.
describe('added tokens', () => {
  it.each<[string, Parts, string, readonly number[], string]>([
    [
      'another name for what bytes are spelled by',
      // The first byte of ő is spelled like Å, which the Ångström sign becomes.
      { ...bytes, normalizer: 'NFC', own: ['?', 'Å', 'ĳ', 'a'], added: { '\u212b': { normalized: true } } },
      'őa',
      [1, 2, 3],
      'őa',
    ],
    [
      'a character that spells a byte',
      { ...bytes, own: ['?', 'é', '©', 'ª'], added: { é: { normalized: true } } },
      '驪',
      [1, 2, 3],
      '驪',
    ],
    [
      'a character that only normalizing makes',
      { normalizer: 'NFKD', own: ['?', 'A'], added: { '\u030a': { normalized: false } } },
      'Å\u030a',
      [1, 0, 2],
      'A ? \u030a',
    ],
    [
      'a character that normalizing changes',
      { normalizer: 'NFKC', own: ['?', 'a'], added: { ﬁ: { normalized: true } } },
      'aﬁfi',
      [1, 2, 2],
      'a fi fi',
    ],
    [
      'white space before one that strips it',
      { own: ['?', 'a'], added: { ' ': { normalized: false }, '<x>': { normalized: false, lstrip: true } } },
      'a  <x>',
      [1, 2, 2, 3],
      'a     <x>',
    ],
    [
      'the first of a text that begins with a space of its own',
      { normalizer: 'NFKC', pre_tokenizer: first, own: ['?', '▁', 'a'], added: { '①': { normalized: true } } },
      '①a',
      [3, 2],
      '1 a',
    ],
  ])('%s', (_, parts, text, ids, decoded) => {
    const tokenizer = read(parts);
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(decoded);
  });
});
