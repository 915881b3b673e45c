import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseModelConfig, readModelConfig } from '../../main/model/config.ts';
import { ggufPieces } from '../../main/model/gguf/file.ts';
import { ggufConfig } from '../../main/model/gguf/import/config.ts';
import { READABLE_TYPES } from '../../main/model/gguf/import/dequantise.ts';
import { unpackGguf } from '../../main/model/gguf/import/folder.ts';
import { mergesOf } from '../../main/model/gguf/import/merges.ts';
import { openGguf } from '../../main/model/gguf/import/open.ts';
import { ggufWeights } from '../../main/model/gguf/import/weights.ts';
import { ggufMetadata } from '../../main/model/gguf/metadata.ts';
import { ggufTensors } from '../../main/model/gguf/tensors.ts';
import { type MergedModel, openMergedModel } from '../../main/model/merge.ts';
import { parameterShapes } from '../../main/model/model.ts';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { fault } from './faults.ts';
import {
  byteTokens,
  ggufBytes,
  SMALL_METADATA,
  smallTensors,
  type TestTensor,
  type Value,
  writeSmall,
} from './gguf-file.ts';

const place = temporaryFolderOfFile();
let made = 0;
const newFolder = (): string => {
  const folder = join(place, `model-${made++}`);
  mkdirSync(folder);
  return folder;
};
const path = join(place, 'small.gguf');

function unpack(file: string, type: 'F32' | 'BF16' = 'F32'): string {
  const folder = newFolder();
  const opened = openGguf(file);
  try {
    writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([...unpackGguf(opened, folder, type)]));
  } finally {
    opened.close();
  }
  return folder;
}
const json = (folder: string, name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const small = (changed: Readonly<Record<string, Value>>, tensors?: readonly TestTensor[]) => () =>
  unpack(writeSmall(path, 'F16', changed, tensors));

describe('a GGUF file as a model folder', () => {
  it.each(READABLE_TYPES)('reads matrices of $name', ({ name }) => {
    const folder = unpack(writeSmall(path, name));
    expect(readModelConfig(folder).numLayers).toBe(1);
    const file = openSafetensors(join(folder, 'model.safetensors'));
    const query = file.read('model.layers.0.self_attn.q_proj.weight');
    file.close();
    expect(query.some((weight) => weight !== 0) && query.every(Number.isFinite)).toBe(true);
  });

  it('has the settings, the decimal numbers that were meant, and the tokenizer', () => {
    const folder = unpack(writeSmall(path));
    expect(json(folder, 'config.json')).toMatchObject({
      model_type: 'llama',
      num_key_value_heads: 2,
      head_dim: 64,
      rms_norm_eps: 1e-5,
      rope_theta: 10000.5,
      tie_word_embeddings: true,
      vocab_size: 259,
      dtype: 'float32',
      attention_bias: false,
    });
    const tokenizer = loadTokenizer(folder);
    expect(tokenizer.encode('hi<|im_end|>')).toEqual([104, 105, 258]);
    expect(tokenizer.decode(tokenizer.encode('hi ½ 12'))).toBe('hi ½ 12');
  });

  it('reads what llama.cpp reads: a number for each layer, a factor alone, a cut that begins texts', () => {
    const lists = { 'llama.feed_forward_length': [256], 'llama.attention.head_count': [4] };
    const folder = small({ ...lists, 'llama.rope.scaling.factor': 2, 'tokenizer.ggml.pre': 'lfm2' })();
    expect(readModelConfig(folder)).toMatchObject({ numHeads: 4, ropeScaling: { type: 'linear', factor: 2 } });
    const { encode } = loadTokenizer(folder);
    expect(encode('a', true)).toEqual([257, ...encode('a')]);
  });

  it('without types of tokens has ordinary ones, and those that llama.cpp knows by their names', () => {
    const { 'tokenizer.ggml.token_type': _types, ...metadata } = SMALL_METADATA;
    writeFileSync(path, ggufBytes(metadata, smallTensors('F16')));
    const { encode, token } = loadTokenizer(unpack(path));
    // As llama-cpp-python 0.3.36 cuts it.
    expect(encode('<|im_start|>a<|im_end|>').map(token)).toEqual([...'<|im_start|>a', '<|im_end|>']);
  });

  it('ends answers with the token of its chat template, and keeps the one that the file names', () => {
    const folder = unpack(writeSmall(path));
    expect(json(folder, 'tokenizer_config.json').eos_token).toBe('<|im_end|>');
    expect(json(folder, 'generation_config.json').eos_token_id).toEqual([258, 256]);
    expect(readModelConfig(folder).eosTokenIds).toEqual([258, 256]);
  });
});

const FIXTURES = ['models/llama-llama3-oldkeys-f16', 'models/llama-tied-llama3-bf16-sharded', 'models/qwen2-tied-f32']
  .concat(['models/llama-attention-bias-f32-sharded', 'models/qwen3-tied-f32', 'families/granite'])
  .concat(['families/olmo2', 'families/phi4-mini-longrope', 'families/llama-mlp-bias', 'families/llama-linear']);

describe('RoPE of layers that differ', () => {
  const settingsOf = (name: string, own: Readonly<Record<string, Value>>) => {
    const shape = { 'general.architecture': name, [`${name}.rope.scaling.type`]: 'linear' };
    const renamed = Object.entries(SMALL_METADATA).map(([key, value]) => [key.replace(/^llama\./, `${name}.`), value]);
    const scaled = { [`${name}.rope.scaling.factor`]: 8, ...own };
    writeFileSync(path, ggufBytes({ ...Object.fromEntries(renamed), ...shape, ...scaled }, smallTensors('F16')));
    const file = openGguf(path);
    const { settings } = ggufConfig(file);
    file.close();
    return settings;
  };

  // transformers 5 ignores what "rope_parameters" says of all layers of Gemma 3, or of one kind of OLMo-2's.
  it('is spelled as transformers reads it', () => {
    const gemma = settingsOf('gemma3', { 'gemma3.attention.sliding_window': 16 });
    expect(gemma).toMatchObject({ rope_theta: 10000.5, rope_scaling: { rope_type: 'linear', factor: 8 } });
    expect(gemma).not.toHaveProperty('rope_parameters');
    const scaled = { rope_theta: 10000.5, rope_type: 'linear', factor: 8 };
    expect(settingsOf('olmo2', {})).toMatchObject({ model_type: 'olmo2', rope_parameters: scaled });
    expect(settingsOf('olmo2', { 'olmo2.attention.sliding_window': 16 })).toMatchObject({
      rope_parameters: { full_attention: scaled, sliding_attention: { rope_theta: 10000.5, rope_type: 'default' } },
    });
  });
});

describe('special tokens that no token has', () => {
  it('are left out', () => {
    const folder = small({ 'tokenizer.ggml.eos_token_id': 300, 'tokenizer.ggml.bos_token_id': 2 ** 32 - 1 })();
    expect(json(folder, 'generation_config.json')).toEqual({
      bos_token_id: null,
      eos_token_id: 258,
      pad_token_id: null,
    });
  });
});

describe('what the export wrote', () => {
  /** A tokenizer of bytes alone. */
  const bytesFolder = (): string => {
    const folder = newFolder();
    const vocab = Object.fromEntries(byteTokens().tokens.map((token, id) => [token, id]));
    const definition = {
      added_tokens: [],
      normalizer: null,
      post_processor: null,
      decoder: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
      model: { type: 'BPE', vocab, merges: [] },
    };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    return folder;
  };
  const YARN = {
    ...{ rope_type: 'yarn', rope_theta: 1000, factor: 4, attention_factor: 0.75 },
    ...{ original_max_position_embeddings: 32, beta_fast: 4, beta_slow: 0.5 },
  };
  const RECURRENT = {
    ...{ num_hidden_layers: 2, num_key_value_heads: 1, linear_num_key_heads: 2, linear_num_value_heads: 6 },
    ...{ linear_key_head_dim: 4, linear_value_head_dim: 4, norm_eps: 1e-6 },
  };
  /** Its settings and weights must be those that were written. */
  const expectSame = (merged: Pick<MergedModel, 'config' | 'tensors'>): void => {
    const metadata = ggufMetadata(merged.config, bytesFolder(), { name: 'm', type: 'F32' });
    const tensors = ggufTensors({ ...merged, storedAs: 'F32', close: () => undefined }, 'F32');
    writeFileSync(path, Buffer.concat([...ggufPieces(metadata, tensors)]));
    const file = openGguf(path);
    const { config } = ggufConfig(file);
    const { eosTokenIds: _ends, padTokenId: _pad, ...shape } = merged.config;
    // The file has it as float32.
    const attention = shape.longRope && { attentionFactor: expect.closeTo(shape.longRope.attentionFactor, 6) };
    const yarn = shape.ropeScaling?.type === 'yarn' && {
      attentionFactor: expect.closeTo(shape.ropeScaling.attentionFactor, 6),
    };
    expect(config).toMatchObject({
      ...shape,
      longRope: shape.longRope && { ...shape.longRope, ...attention },
      ropeScaling: shape.ropeScaling && { ...shape.ropeScaling, ...yarn },
    });
    const weights = new Map(ggufWeights(file, config).map((weight) => [weight.name, weight]));
    for (const { name, pieces } of merged.tensors) {
      const expected = [...pieces()].flatMap((piece) => [...piece]);
      const got = [...(weights.get(name)?.pieces() ?? [])].flatMap((piece) => [...piece]);
      // Some are written as a power of e.
      const close = (weight: number) => expect.closeTo(weight, 4);
      expect(got).toEqual(name.endsWith('.A_log') ? expected.map(close) : expected);
    }
    file.close();
  };

  it.each(FIXTURES)('is read back: %s', (name) => {
    const merged = openMergedModel(fileURLToPath(new URL(`../parity/fixtures/${name}`, import.meta.url)), null);
    expectSame(merged);
    merged.close();
  });

  // The fixtures of these have layers that llama.cpp doesn't.
  it.each([
    {
      model_type: 'gemma3_text',
      num_hidden_layers: 12,
      sliding_window: 16,
      query_pre_attn_scalar: 8,
      hidden_activation: 'gelu_pytorch_tanh',
      rope_theta: 1e6,
    },
    {
      ...{ model_type: 'gemma3_text', num_hidden_layers: 6, sliding_window: 16, query_pre_attn_scalar: 8 },
      ...{ hidden_activation: 'gelu_pytorch_tanh', rope_scaling: { rope_type: 'linear', factor: 8 } },
    },
    { model_type: 'smollm3', num_hidden_layers: 8 },
    { ...RECURRENT, model_type: 'lfm2', layer_types: ['conv', 'full_attention'], block_auto_adjust_ff_dim: false },
    { ...RECURRENT, model_type: 'qwen3_5_text', layer_types: ['full_attention', 'linear_attention'] },
    {
      ...{ model_type: 'granitemoehybrid', num_hidden_layers: 2, num_local_experts: 0, shared_intermediate_size: 8 },
      ...{ layer_types: ['mamba', 'attention'], mamba_n_heads: 4, mamba_d_state: 4, attention_multiplier: 0.5 },
    },
    {
      ...{ model_type: 'granitemoehybrid', num_hidden_layers: 2, num_local_experts: 0, shared_intermediate_size: 8 },
      ...{ layer_types: ['attention', 'attention'], position_embedding_type: 'nope', residual_multiplier: 0.5 },
    },
    { model_type: 'ministral3', num_hidden_layers: 1, rope_parameters: { ...YARN, llama_4_scaling_beta: 0.1 } },
    {
      ...{ model_type: 'olmo3', num_hidden_layers: 4, sliding_window: 16, rope_theta: 1000 },
      rope_parameters: {
        full_attention: { ...YARN, beta_fast: 32, beta_slow: 1 },
        sliding_attention: { rope_theta: 1000 },
      },
    },
  ])('is read back: $model_type', (own) => {
    const size = { vocab_size: 300, hidden_size: 16, intermediate_size: 8, num_attention_heads: 2, head_dim: 8 };
    const config = parseModelConfig(
      { ...size, max_position_embeddings: 64, rms_norm_eps: 1e-6, ...own },
      'config.json',
    );
    const tensors = [...parameterShapes(config)].map(([name, shape]) => ({
      name,
      shape,
      // Halves, so that a norm's 1 + weight is exact.
      pieces: () => [Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => (i % 64) / 2)],
    }));
    expectSame({ config, tensors });
  });
});

describe('SentencePiece', () => {
  it('becomes merges: better tokens first, the longer half first', () => {
    const tokens = ['a', 'b', 'ab', 'aba', 'ba', '<s>'];
    const scores = [0, 0, -1, -3, -2, 0];
    expect(mergesOf({ tokens, types: [1, 1, 1, 1, 1, 3] }, scores)).toEqual([
      ['a', 'b'],
      ['b', 'a'],
      ['ab', 'a'],
      ['a', 'ba'],
    ]);
  });

  it('cuts texts by its scores, with bytes for what it has no token for', () => {
    const bytes = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`);
    const tokens = ['<unk>', '<s>', '</s>', ...bytes, '▁', 'a', 'b', '▁a', 'ab', '▁ab'];
    const types = [2, 3, 3, ...bytes.map(() => 6), 1, 1, 1, 1, 1, 1];
    const [, ...rest] = smallTensors('F16');
    const embedding = { name: 'token_embd.weight', shape: [tokens.length, 256], type: 1 };
    const folder = small(
      {
        'tokenizer.ggml.model': 'llama',
        'tokenizer.ggml.tokens': tokens,
        'tokenizer.ggml.token_type': types,
        'tokenizer.ggml.scores': tokens.map((_, id) => (id < 259 ? 0.5 : -(id - 259 + 0.5))),
        'tokenizer.ggml.bos_token_id': 1,
        'tokenizer.ggml.eos_token_id': 2,
        'tokenizer.ggml.unknown_token_id': 0,
        'tokenizer.chat_template': '{% for m in messages %}{{ m.content }}</s>{% endfor %}',
      },
      [embedding, ...rest],
    )();
    const tokenizer = loadTokenizer(folder);
    const named = (text: string, special = false) => tokenizer.encode(text, special).map((id) => tokenizer.token(id));
    expect(named('ab b')).toEqual(['▁ab', '▁', 'b']);
    expect(named('aé', true)).toEqual(['<s>', '▁a', '<0xC3>', '<0xA9>']);
    expect(tokenizer.decode(tokenizer.encode('ab b'))).toBe('ab b');
    expect(json(folder, 'generation_config.json').eos_token_id).toBe(2);
  });
});

describe('what a GGUF file may not be', () => {
  const [first, ...others] = smallTensors('F16');
  it.each<[string, string, () => unknown, string]>([
    ['another architecture', 'FOREIGN_GGUF', small({ 'general.architecture': 'mamba' }), '"mamba"'],
    ['a mixture of experts', 'FOREIGN_GGUF', small({ 'llama.expert_count': 8 }), 'mixture of experts'],
    ['RoPE of another kind', 'FOREIGN_GGUF', small({ 'llama.rope.scaling.type': 'ntk' }), '"ntk"'],
    ['RoPE of a part of a head', 'FOREIGN_GGUF', small({ 'llama.rope.dimension_count': 4 }), 'rotates 4 of'],
    ['attention to later tokens', 'FOREIGN_GGUF', small({ 'llama.attention.causal': false }), "isn't causal"],
    ['an adapter', 'FOREIGN_GGUF', small({ 'general.type': 'adapter' }), '"adapter"'],
    ['one of several parts', 'SPLIT_GGUF', small({ 'split.count': 3 }), 'one of 3 parts'],
    ['of another tokenizer', 'UNSUPPORTED_TOKENIZER', small({ 'tokenizer.ggml.model': 'bert' }), '"bert"'],
    ['of another cut', 'UNSUPPORTED_TOKENIZER', small({ 'tokenizer.ggml.pre': 'falcon' }), '"falcon"'],
    ['without a number', 'BAD_GGUF', small({ 'llama.block_count': 'two' }), '"llama.block_count"'],
    ['without a layer', 'TENSOR_MISSING', small({ 'llama.block_count': 2 }), '"blk.1.attn_norm.weight"'],
    [
      'with a tensor that nobody knows',
      'FOREIGN_GGUF',
      small({}, [...smallTensors('F16'), { name: 'blk.0.strange.weight', shape: [32] }]),
      '"blk.0.strange.weight"',
    ],
    ['in a type that nobody knows', 'UNSUPPORTED_DTYPE', small({}, [{ name: 'a', shape: [32], type: 23 }]), 'IQ4_XS'],
    [
      'with two tensors in one place',
      'BAD_GGUF',
      small({}, [first as TestTensor, ...others.map((one) => ({ ...one, offset: 0n }))]),
      'over another',
    ],
    [
      'with a number that is none',
      'NOT_FINITE',
      small({}, [{ ...(first as TestTensor), data: Buffer.alloc(259 * 512, 0xff) }, ...others]),
      'finite',
    ],
    [
      'with more tokens than rows',
      'UNSUPPORTED_TOKENIZER',
      small({ 'tokenizer.ggml.tokens': Array(300).fill('a') }),
      '300 tokens',
    ],
    ['with types of a few tokens', 'UNSUPPORTED_TOKENIZER', small({ 'tokenizer.ggml.token_type': [3] }), 'types of 1'],
  ])('is refused: %s', (_, code, call, words) => {
    expect(fault(call)).toEqual([code, expect.stringContaining(words)]);
  });

  it('is cut off anywhere', () => {
    const bytes = ggufBytes(SMALL_METADATA, smallTensors('Q4_0'));
    for (const length of [0, 3, 4, 20, 100, 3000, bytes.length - 200_000, bytes.length - 40]) {
      writeFileSync(path, bytes.subarray(0, length));
      expect(fault(() => unpack(path))[0]).toMatch(/^(BAD_GGUF|FILE_TRUNCATED)$/);
    }
  });

  it('is refused before counts that no file has take memory', () => {
    for (const [at, value] of [
      [8, 2n ** 40n],
      [8, 65_000n],
      [16, 2n ** 62n],
      [24, 2n ** 50n],
    ] as const) {
      const bytes = ggufBytes(SMALL_METADATA, []);
      bytes.writeBigUInt64LE(value, at);
      writeFileSync(path, bytes);
      expect(fault(() => openGguf(path))[0]).toBe('BAD_GGUF');
    }
    const huge = { name: 'token_embd.weight', shape: [2 ** 40, 2 ** 30] };
    expect(fault(small({}, [huge]))[0]).toBe('FILE_TRUNCATED');
  });

  it('is refused for any byte that was changed in its head, or read', () => {
    const bytes = ggufBytes(SMALL_METADATA, smallTensors('Q4_0'));
    for (let at = 0; at < 4000; at += 61) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      writeFileSync(path, damaged);
      // Anything but an error that names the file would be a fault of the reader.
      try {
        openGguf(path).close();
      } catch (error) {
        expect((error as { kind?: string }).kind).toBe('input');
      }
    }
  });
});
