import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../../main/model/config.ts';
import { ggufMetadata } from '../../main/model/gguf/metadata.ts';
import { changingStep, ggufNote } from '../../main/model/gguf/normalizers.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { fault } from './faults.ts';

const folder = temporaryFolderOfFile();

const sequence = (...normalizers: object[]) => ({ type: 'Sequence', normalizers });
const replace = (from: object, content: string) => ({ type: 'Replace', pattern: from, content });
/** Llama 2's and Mistral's; Gemma's is the second step. */
const SPACES = sequence({ type: 'Prepend', prepend: '▁' }, replace({ String: ' ' }, '▁'));

describe('changingStep', () => {
  it("knows what llama.cpp does by itself: nothing, and SentencePiece's spaces", () => {
    expect(changingStep(null, false)).toBeNull();
    expect([changingStep(SPACES, true), changingStep(replace({ String: ' ' }, '▁'), true)]).toEqual([null, null]);
    // A byte-level tokenizer's spaces aren't replaced there.
    expect(changingStep(SPACES, false)).toBe('Prepend');
  });

  it('allows composing characters, which leaves most texts as they are', () => {
    expect([changingStep({ type: 'NFC' }, false), changingStep(sequence({ type: 'NFC' }), true)]).toEqual([null, null]);
  });

  it('finds every other step', () => {
    const steps = ['NFKC', 'NFD', 'NFKD', 'Lowercase', 'StripAccents', 'Strip', 'Precompiled', 'BertNormalizer'];
    for (const type of steps) expect(changingStep(sequence({ type: 'NFC' }, { type }), true)).toBe(type);
    for (const other of [replace({ Regex: ' ' }, '▁'), replace({ String: ' ' }, '_'), replace({ String: '“' }, '"')])
      expect(changingStep(other, true)).toBe('Replace');
  });
});

describe('a tokenizer with a normalizer', () => {
  const config = parseModelConfig(
    {
      model_type: 'llama',
      vocab_size: 2,
      hidden_size: 8,
      intermediate_size: 8,
      num_hidden_layers: 1,
      num_attention_heads: 1,
      max_position_embeddings: 8,
    },
    'config.json',
  );
  const write = (normalizer: object | null): void => {
    const pre_tokenizer = { type: 'ByteLevel', add_prefix_space: false, use_regex: true };
    const definition = {
      added_tokens: [],
      normalizer,
      pre_tokenizer,
      model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
    };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
  };
  const metadata = () => ggufMetadata(config, folder, { name: 'm', type: 'F16' });

  it('is refused as GGUF where it changes texts that llama.cpp leaves', () => {
    write({ type: 'NFKC' });
    expect(fault(metadata)).toEqual(['UNSUPPORTED_TOKENIZER', expect.stringContaining('by a normalizer (NFKC)')]);
  });

  it('is written with a note where it composes characters', () => {
    write({ type: 'NFC' });
    expect(metadata).not.toThrow();
    expect(ggufNote(folder)).toMatch(/composes characters \(Unicode NFC\)/);
    write(null);
    expect([metadata()['tokenizer.ggml.pre']?.value, ggufNote(folder)]).toEqual(['gpt-2', null]);
  });
});
