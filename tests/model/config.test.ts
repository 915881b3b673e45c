import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseModelConfig, readModelConfig } from '../../main/model/config.ts';
import { fault } from './faults.ts';

const LLAMA = {
  model_type: 'llama',
  vocab_size: 100,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-5,
};
const SCALING = {
  rope_type: 'llama3',
  factor: 32,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
};
const PARSED_SCALING = { factor: 32, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositionEmbeddings: 8192 };
const parse = (more: object = {}) => parseModelConfig({ ...LLAMA, ...more }, 'the file');

describe('parseModelConfig', () => {
  it('reads a plain Llama', () => {
    expect(parse({ eos_token_id: 7, tie_word_embeddings: true })).toMatchObject({
      modelType: 'llama',
      numHeads: 4,
      numKvHeads: 2,
      headDim: 8,
      rmsNormEps: 1e-5,
      ropeTheta: 10000,
      ropeScaling: null,
      tieWordEmbeddings: true,
      attentionBias: false,
      qkNorm: false,
      eosTokenIds: [7],
      padTokenId: null,
    });
  });

  it('reads both spellings of RoPE alike', () => {
    const older = parse({ rope_theta: 500000, rope_scaling: SCALING });
    const newer = parse({ rope_parameters: { ...SCALING, rope_theta: 500000 } });
    expect(older).toMatchObject({ ropeTheta: 500000, ropeScaling: PARSED_SCALING });
    expect(newer).toEqual(older);
    expect(parse({ rope_parameters: { rope_type: 'default', rope_theta: 1e6 } })).toEqual(
      parse({ rope_theta: 1e6, rope_scaling: null }),
    );
    expect(parse({ rope_scaling: { ...SCALING, rope_type: undefined, type: 'llama3' } }).ropeScaling).toEqual(
      PARSED_SCALING,
    );
  });

  it('knows what Qwen2 and Qwen3 bring by themselves', () => {
    expect(parse({ model_type: 'qwen2' })).toMatchObject({ attentionBias: true, qkNorm: false, headDim: 8 });
    expect(parse({ model_type: 'qwen3' })).toMatchObject({ attentionBias: false, qkNorm: true, headDim: 128 });
    expect(parse({ model_type: 'qwen3', head_dim: 16 }).headDim).toBe(16);
  });

  it('joins the end tokens of both files', () => {
    expect(parseModelConfig({ ...LLAMA, eos_token_id: [7, 9] }, 'the file', [9, 11]).eosTokenIds).toEqual([7, 9, 11]);
  });

  it.each([
    ['an unknown architecture', { model_type: 'gpt2', vocab_size: undefined }, 'llama, qwen2 or qwen3, got "gpt2"'],
    ['a missing size', { vocab_size: undefined }, '"vocab_size"'],
    ['a size of another type', { hidden_size: '32' }, '"hidden_size"'],
    ['another activation', { hidden_act: 'gelu' }, '"hidden_act"'],
    ['biases in the MLP', { mlp_bias: true }, '"mlp_bias"'],
    ['heads that do not divide', { num_key_value_heads: 3 }, 'num_attention_heads (4)'],
    ['an odd head', { hidden_size: 36 }, '"head_dim"'],
    ['a broken head', { hidden_size: 30 }, 'got 7.5'],
    ['another RoPE', { rope_scaling: { ...SCALING, rope_type: 'yarn' } }, 'yarn'],
    ['an incomplete RoPE', { rope_parameters: { ...SCALING, factor: undefined } }, 'llama3'],
    ['a sliding window', { model_type: 'qwen2', use_sliding_window: true }, 'sliding window'],
    ['a sliding layer', { layer_types: ['full_attention', 'sliding_attention'] }, 'sliding window'],
    ['quantised weights', { quantization_config: { bits: 4 } }, 'quantization_config'],
  ])('refuses %s, naming the file and the field', (_, more, named) => {
    const [code, message] = fault(() => parse(more));
    expect(code).toBe('BAD_MODEL_CONFIG');
    expect(message).toContain('the file');
    expect(message).toContain(named);
  });
});

describe('readModelConfig', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'braid-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

  it('adds the end tokens of generation_config.json', () => {
    write('config.json', JSON.stringify({ ...LLAMA, eos_token_id: 1 }));
    write('generation_config.json', JSON.stringify({ eos_token_id: [1, 5] }));
    expect(readModelConfig(folder).eosTokenIds).toEqual([1, 5]);
  });

  it('needs no generation_config.json', () => {
    write('config.json', JSON.stringify(LLAMA));
    expect(readModelConfig(folder).eosTokenIds).toEqual([]);
  });

  it('names a missing config.json', () => {
    const [code, message] = fault(() => readModelConfig(folder));
    expect([code, message]).toEqual(['MODEL_FILE_MISSING', expect.stringContaining(join(folder, 'config.json'))]);
  });

  it('names a file that is not JSON', () => {
    write('config.json', '{"model_type": ');
    expect(fault(() => readModelConfig(folder))).toEqual(['BAD_JSON', expect.stringContaining('config.json')]);
    expect(() => readModelConfig(folder)).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('again') }),
    );
  });

  it('names a file that cannot be read', () => {
    expect(fault(() => readModelConfig(join(folder, '\0')))).toEqual(['MODEL_FILE_UNREADABLE', expect.any(String)]);
  });

  it('rejects a broken generation_config.json', () => {
    write('config.json', JSON.stringify(LLAMA));
    write('generation_config.json', '{"eos_token_id": "end"}');
    const [code, message] = fault(() => readModelConfig(folder));
    expect(code).toBe('BAD_MODEL_CONFIG');
    expect(message).toContain('generation_config.json');
  });
});
