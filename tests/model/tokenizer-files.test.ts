import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { readTokenizerConfig } from '../../main/model/tokenizer-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const write = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value));
const MAP = { bos_token: '<s>', eos_token: { content: '</s>', lstrip: false }, pad_token: null };

// As AutoTokenizer of transformers 5.20 reads such folders.
describe('readTokenizerConfig', () => {
  it('takes the special tokens of special_tokens_map.json where older versions wrote it', () => {
    write('special_tokens_map.json', MAP);
    expect(readTokenizerConfig(folder)).toEqual(MAP);
    write('tokenizer_config.json', { eos_token: '<end>', pad_token: '<pad>', unk_token: '<unk>' });
    expect(readTokenizerConfig(folder)).toEqual({ ...MAP, unk_token: '<unk>' });
    write('tokenizer_config.json', { added_tokens_decoder: {}, eos_token: '<end>' });
    expect(readTokenizerConfig(folder)).toEqual({ added_tokens_decoder: {}, eos_token: '<end>' });
  });

  it("knows a class's own tokens where no file names them", () => {
    write('tokenizer_config.json', { tokenizer_class: 'Qwen2TokenizerFast', pad_token: null });
    expect(readTokenizerConfig(folder)).toMatchObject({ eos_token: '<|endoftext|>', pad_token: null });
    write('tokenizer_config.json', { tokenizer_class: 'constructor' });
    expect(readTokenizerConfig(folder)).toEqual({ tokenizer_class: 'constructor' });
  });

  it('refuses a token that is neither a text nor an added token', () => {
    write('special_tokens_map.json', { eos_token: ['</s>'] });
    expect(fault(() => readTokenizerConfig(folder))).toEqual([
      ...['BAD_TOKENIZER', expect.stringContaining('"eos_token" of tokenizer_config.json')],
    ]);
  });
});

describe('readDefinition', () => {
  const token = (id: number, content: string, special = true) => ({
    id,
    content,
    special,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  });
  const definition = {
    added_tokens: [token(2, '</s>', false)],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'BPE', vocab: { a: 0, b: 1, '</s>': 2, '<x>': 3 }, merges: [] },
  };
  const idsOf = (config: object, text: string): readonly [number[], string] => {
    write('tokenizer.json', definition);
    write('tokenizer_config.json', config);
    const { encode, decode } = loadTokenizer(folder);
    const ids = encode(text);
    return [ids, decode(ids)];
  };

  it('has the tokens that only the other files name, and makes special those that they call so', () => {
    expect(idsOf({}, 'a</s>')).toEqual([[0, 2], 'a</s>']);
    expect(idsOf({ eos_token: '</s>' }, 'a</s>')).toEqual([[0, 2], 'a']);
    expect(idsOf({ image_token: '<x>' }, 'a<x>b')).toEqual([[0, 3, 1], 'ab']);
    expect(idsOf({ extra_special_tokens: ['<new>'] }, 'a<new>b')).toEqual([[0, 4, 1], 'ab']);
    expect(idsOf({ added_tokens_decoder: { 9: { content: '<new>', special: false } } }, 'a<new>b')).toEqual([
      ...[[0, 4, 1], 'a<new>b'],
    ]);
  });

  it('has the tokens of added_tokens.json, which older versions wrote, in the order of their ids', () => {
    write('added_tokens.json', { '<new>': 7, '<more>': 5 });
    write('special_tokens_map.json', { additional_special_tokens: ['<more>'] });
    expect(idsOf({}, 'a<new><more>b')).toEqual([[0, 5, 4, 1], 'a<new>b']);
    expect(idsOf({ added_tokens_decoder: {} }, 'a<new>')).toEqual([[0], 'a']);
  });

  it("refuses ids of added tokens that Hugging Face's library doesn't give them", () => {
    for (const [id, content, theirs] of [
      [9, '<new>', 4],
      [1, '<new>', 4],
      [4, '<x>', 3],
    ] as const) {
      write('tokenizer.json', { ...definition, added_tokens: [...definition.added_tokens, token(id, content)] });
      expect(fault(() => loadTokenizer(folder))).toEqual([
        ...['BAD_TOKENIZER', expect.stringContaining(`"${content}" has the id ${id}, where`)],
      ]);
      expect(() => loadTokenizer(folder)).toThrow(`gives it ${theirs}`);
    }
  });

  it('encodes texts of more tokens than calls hold arguments by a Unigram model', () => {
    const model = {
      type: 'Unigram',
      unk_id: 0,
      vocab: [
        ['?', 0],
        ['a', -1],
      ],
    };
    write('tokenizer.json', { ...definition, model, added_tokens: [] });
    expect(loadTokenizer(folder).encode('a'.repeat(200_000))).toHaveLength(200_000);
  });

  it('writes what a Unigram model lacks in bytes, where it says so and has them', () => {
    const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
    const encoded = (missing: string, byte_fallback: boolean): number[] => {
      const vocab = ['?', 'a', ...bytes.filter((name) => name !== missing)].map((piece) => [piece, -1]);
      const model = { type: 'Unigram', unk_id: 0, byte_fallback, vocab };
      write('tokenizer.json', { ...definition, model, added_tokens: [] });
      return loadTokenizer(folder).encode('aébа');
    };
    const ids = (...values: readonly number[]): number[] => values.map((byte) => byte + 2);
    expect(encoded('', true)).toEqual([1, ...ids(0xc3, 0xa9, 0x62, 0xd0, 0xb0)]);
    expect(encoded('<0xD0>', true)).toEqual([1, 0]);
    expect(encoded('', false)).toEqual([1, 0]);
  });

  it('puts the ids of a template around a text, whatever their names are', () => {
    const piece = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
    const single = [piece('begin'), { Sequence: { id: 'A', type_id: 0 } }, piece('a')];
    const special_tokens = { begin: { id: 'begin', ids: [3, 1] }, a: { id: 'a', ids: [2] } };
    const post_processor = { type: 'TemplateProcessing', single, pair: single, special_tokens };
    const model = { type: 'WordLevel', unk_token: 'a', vocab: { a: 0, b: 1, c: 2, d: 3 } };
    const processors = [{ type: 'ByteLevel' }, post_processor];
    for (const given of [post_processor, { type: 'Sequence', processors }]) {
      write('tokenizer.json', { ...definition, model, added_tokens: [], post_processor: given });
      expect(loadTokenizer(folder).encode('b', true)).toEqual([3, 1, 1, 2]);
      expect(loadTokenizer(folder).encode('b')).toEqual([1]);
    }
  });
});
