import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodePrompt, loadTokenizer } from '../../main/model/tokenizer.ts';
import { fault } from './faults.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../parity/fixtures/tokenizers/${name}`, import.meta.url));

const EMPTY = {
  ...{ added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null },
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
};

describe('loadTokenizer', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'braid-tokenizer-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));

  it('names its end token, its tokens and its files', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    expect(tokenizer.eosTokenId).toBe(tokenizer.tokenId('<|eot_id|>'));
    expect(tokenizer.tokenId('no such token')).toBeUndefined();
    expect(tokenizer.files.map((file) => basename(file))).toEqual([
      'tokenizer.json',
      'tokenizer_config.json',
      'chat_template.jinja',
    ]);
  });

  it('leaves special tokens out of decoded text', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    expect(tokenizer.decode(tokenizer.encode('one two<|eot_id|>', true))).toBe('one two');
    expect(tokenizer.decode([])).toBe('');
  });

  it.each([
    ['not an object', 'null', 'null'],
    ['a list', '[1]', '[1]'],
    ['without a model', '{}', 'tokenizer.json'],
    ['of an unknown kind', { model: { type: 'Nonsense', vocab: {} } }, 'tokenizer.json'],
    ['with an unknown part', { ...EMPTY, normalizer: { type: 'Nonsense' } }, 'Nonsense'],
    [
      'with a token for whole words only',
      { ...EMPTY, added_tokens: [{ id: 0, content: 'word', single_word: true }] },
      '"word"',
    ],
    ['with an id beyond any vocabulary', { model: { ...EMPTY.model, vocab: { a: 2147483648 } } }, 'got 2147483648'],
    ['with an id that is not a whole number', { model: { ...EMPTY.model, vocab: { a: 0.5 } } }, 'token "a"'],
    ['with an added token far out', { ...EMPTY, added_tokens: [{ id: 4194304, content: 'x' }] }, 'got 4194304'],
  ])('refuses a tokenizer.json that is %s', (_, content, named) => {
    write('tokenizer.json', content);
    expect(fault(() => loadTokenizer(folder))).toEqual(['BAD_TOKENIZER', expect.stringContaining(named)]);
  });

  it('rejects a missing or cut tokenizer.json and a broken tokenizer_config.json', () => {
    expect(fault(() => loadTokenizer(folder))).toEqual(['MODEL_FILE_MISSING', expect.stringContaining(folder)]);
    write('tokenizer.json', '{"model": {"type": "BPE"');
    expect(fault(() => loadTokenizer(folder))[0]).toBe('BAD_JSON');
    write('tokenizer.json', EMPTY);
    write('tokenizer_config.json', '"text"');
    expect(fault(() => loadTokenizer(folder))).toEqual(['BAD_TOKENIZER', expect.stringContaining('tokenizer_config')]);
  });
});

describe('encodePrompt', () => {
  it('puts a prompt through the chat template once, without a second begin token', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    const ids = encodePrompt(tokenizer, 'Hi');
    const begin = tokenizer.tokenId('<|begin_of_text|>');
    expect(ids.filter((id) => id === begin)).toHaveLength(1);
    expect(ids).toEqual(tokenizer.encode(tokenizer.chat([{ role: 'user', content: 'Hi' }])));
  });

  it('takes plain text with the own tokens of a tokenizer that has no template', () => {
    const tokenizer = loadTokenizer(fixture('wordpiece'));
    expect(tokenizer.hasChatTemplate).toBe(false);
    expect(encodePrompt(tokenizer, 'word')).toEqual(tokenizer.encode('word', true));
    expect(fault(() => tokenizer.chat([]))[0]).toBe('NO_CHAT_TEMPLATE');
  });
});

describe('a vocabulary that lacks words', () => {
  it('is refused where it has no token for unknown ones', () => {
    const folder = mkdtempSync(join(tmpdir(), 'braid-tokenizer-'));
    const model = { type: 'WordLevel', vocab: { known: 0 }, unk_token: 'nowhere' };
    const definition = { ...EMPTY, pre_tokenizer: { type: 'WhitespaceSplit' }, model };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    const tokenizer = loadTokenizer(folder);
    expect(tokenizer.encode('known known')).toEqual([0, 0]);
    expect(fault(() => tokenizer.encode('known other'))).toEqual([
      'BAD_TOKENIZER',
      expect.stringContaining('"known other"'),
    ]);
    rmSync(folder, { recursive: true });
  });
});
