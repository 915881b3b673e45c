import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { contextLength, parseModelConfig, readModelConfig } from '../../main/model/config.ts';
import { layerConfig } from '../../main/model/layer-sizes.ts';
import { keepingLayers } from '../../main/model/mixers/index.ts';
import { parameterShapes } from '../../main/model/model.ts';
import { MODEL_TYPES } from '../../main/model/model-types.ts';
import { temporaryFolder } from '../temporary-folder.ts';
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
const PARSED_SCALING = {
  type: 'llama3',
  factor: 32,
  lowFreqFactor: 1,
  highFreqFactor: 4,
  originalMaxPositionEmbeddings: 8192,
};
const parse = (more: object = {}) => parseModelConfig({ ...LLAMA, ...more }, 'the file');

describe('MODEL_TYPES', () => {
  it('has a model of each among those that are compared with transformers', () => {
    const compared = ['families', 'models'].flatMap((kind) => {
      const folder = join(import.meta.dirname, '../parity/fixtures', kind);
      return readdirSync(folder).map((name) => readModelConfig(join(folder, name)).modelType);
    });
    expect(MODEL_TYPES.filter((type) => !compared.includes(type))).toEqual([]);
  });
});

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
    // Somebody added what a model card says to a folder of transformers 5.
    const plain = { rope_type: 'default', rope_theta: 1e6 };
    const both = { rope_parameters: plain, rope_scaling: SCALING };
    expect(parse({ ...both, rope_theta: 500000 })).toMatchObject({ ropeTheta: 500000, ropeScaling: PARSED_SCALING });
    expect(() => parse(both)).toThrow('"rope_scaling" beside "rope_parameters" counts alone');
    expect(parse({ ...both, rope_scaling: {} })).toMatchObject({ ropeTheta: 1e6, ropeScaling: null });
    expect(parse({ ...both, rope_parameters: { full_attention: plain } })).toMatchObject({ ropeTheta: 1e6 });
    expect(parse({ rope_scaling: { ...SCALING, rope_type: undefined, type: 'llama3' } }).ropeScaling).toEqual(
      PARSED_SCALING,
    );
  });

  it('knows what Qwen2 and Qwen3 bring by themselves', () => {
    expect(parse({ model_type: 'qwen2' })).toMatchObject({ attentionBias: true, qkNorm: false, headDim: 8 });
    expect(parse({ model_type: 'qwen3' })).toMatchObject({ attentionBias: false, qkNorm: true, headDim: 128 });
    expect(parse({ model_type: 'qwen3', head_dim: 16 }).headDim).toBe(16);
  });

  it('reads windows as the classes of transformers do', () => {
    const windowsOf = (more: object) => {
      const { window, windowLayers } = parse(more);
      return [window, windowLayers];
    };
    const sliding = { sliding_window: 512 };
    expect(windowsOf({ ...sliding, model_type: 'qwen2' })).toEqual([null, []]);
    expect(windowsOf({ ...sliding, model_type: 'qwen2', use_sliding_window: true })).toEqual([null, []]);
    expect(windowsOf({ ...sliding, model_type: 'qwen2', use_sliding_window: true, max_window_layers: 1 })).toEqual([
      512,
      [1],
    ]);
    expect(windowsOf({ ...sliding, model_type: 'mistral' })).toEqual([512, [0, 1]]);
    expect(windowsOf({ model_type: 'mistral', sliding_window: null })).toEqual([null, []]);
    expect(windowsOf({ model_type: 'mistral' })).toEqual([4096, [0, 1]]);
    expect(windowsOf({ ...sliding, model_type: 'phi3' })).toEqual([512, [0, 1]]);
    expect(windowsOf({ ...sliding, model_type: 'gemma3_text', sliding_window_pattern: 2 })).toEqual([512, [0]]);
    const listed = { ...sliding, layer_types: ['sliding_attention', 'full_attention'] };
    for (const model_type of ['llama', 'granite', 'olmo2'])
      expect(windowsOf({ ...listed, model_type })).toEqual([null, []]);
    for (const model_type of ['mistral', 'smollm3']) expect(windowsOf({ ...listed, model_type })).toEqual([512, [0]]);
    expect(windowsOf({ ...listed, model_type: 'phi3' })).toEqual([512, [0, 1]]);
  });

  it.each([
    ['llama', true, true],
    ['olmo2', true, false],
    ['mistral', false, false],
    ['lfm2', false, false],
  ])('gives %s the biases of its class, whatever its file says', (model_type, attentionBias, mlpBias) => {
    expect(parse({ model_type, attention_bias: true, mlp_bias: true })).toMatchObject({ attentionBias, mlpBias });
  });

  it('reads Gemma 3 in the spelling of the Hub and in that of transformers 5 alike', () => {
    const gemma = { ...LLAMA, model_type: 'gemma3_text', head_dim: 16, query_pre_attn_scalar: 24, sliding_window: 8 };
    const hub = { rope_theta: 1e6, rope_local_base_freq: 2e4, rope_scaling: null, sliding_window_pattern: 2 };
    const newer = {
      layer_types: ['sliding_attention', 'full_attention'],
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 1e6 },
        sliding_attention: { rope_type: 'default', rope_theta: 2e4 },
      },
    };
    const read = parseModelConfig({ ...gemma, ...hub }, 'the file');
    expect(read).toMatchObject({ tieWordEmbeddings: true, ropeTheta: 1e6, localRopeTheta: 2e4, windowLayers: [0] });
    expect(parseModelConfig({ ...gemma, ...newer }, 'the file')).toEqual(read);
  });

  it('reads a LongRoPE, which reaches beyond the original context', () => {
    // The original context beside RoPE's settings counts, not the one in them.
    const factors = { short_factor: [1, 1, 1], long_factor: [2, 2, 2] };
    const rope_scaling = { type: 'su', ...factors, original_max_position_embeddings: 64 };
    const phi = parse({
      model_type: 'phi3',
      rope_scaling,
      partial_rotary_factor: 0.75,
      max_position_embeddings: 131072,
      original_max_position_embeddings: 4096,
    });
    expect(contextLength(phi)).toBe(131072);
    expect(phi).toMatchObject({
      rotaryDim: 6,
      longRope: { attentionFactor: Math.sqrt(1 + Math.log(32) / Math.log(4096)) },
    });
    expect(contextLength(parse({ max_position_embeddings: 512 }))).toBe(512);
  });

  it('reads YaRN with what transformers takes where a file says nothing', () => {
    const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 512 };
    const read = (more: object) => parse({ rope_scaling: { ...yarn, ...more } }).ropeScaling;
    const usual = { type: 'yarn', factor: 4, originalMaxPositionEmbeddings: 512, betaFast: 32, betaSlow: 1 };
    const attentionFactor = 0.1 * Math.log(4) + 1;
    expect(read({})).toEqual({ ...usual, attentionFactor, truncate: true });
    expect(read({ mscale: 1, mscale_all_dim: 1, truncate: false })).toEqual({
      ...usual,
      attentionFactor: 1,
      truncate: false,
    });
    expect(contextLength(parse({ rope_scaling: yarn, max_position_embeddings: 512 }))).toBe(2048);
    expect(contextLength(parse({ rope_scaling: yarn, max_position_embeddings: 8192 }))).toBe(8192);
  });

  it('reads a proportional RoPE, which has a frequency for each pair of a head', () => {
    const qwen = { model_type: 'qwen3_5_text', head_dim: 16 };
    const read = (rope: object) => parse({ ...qwen, rope_parameters: { rope_type: 'proportional', ...rope } });
    const share = (of: number) => ({ rotaryDim: null, ropeScaling: { type: 'proportional', factor: 1, share: of } });
    expect(read({ partial_rotary_factor: 0.5 })).toMatchObject(share(0.5));
    expect(read({})).toMatchObject(share(0.25));
  });

  it('reads which layers mix by a convolution or a delta rule', () => {
    const lfm = { model_type: 'lfm2', num_hidden_layers: 3, norm_eps: 1e-4, intermediate_size: 96 };
    const conv = { mixer: 'short-convolution', taps: 3, bias: false };
    expect(parse({ ...lfm, full_attn_idxs: [1], block_multiple_of: 10 })).toMatchObject({
      recurrent: { ...conv, layers: [0, 2] },
      intermediateSize: 70,
      tieWordEmbeddings: true,
      rmsNormEps: 1e-4,
    });
    // As LFM2-350M, 700M and 1.2B were published.
    const { intermediate_size: _absent, ...first } = { ...LLAMA, ...lfm, block_ff_dim: 6656 };
    expect(parseModelConfig(first, 'config.json').intermediateSize).toBe(4608);
    expect(parse({ ...lfm, layer_types: ['conv', 'conv', 'full_attention'] }).recurrent?.layers).toEqual([0, 1]);
    expect(parse({ ...lfm, layer_types: ['full_attention', 'full_attention', 'full_attention'] }).recurrent).toBeNull();
    expect(parse({ model_type: 'lfm3', num_hidden_layers: 8, norm_eps: 1e-4 })).toMatchObject({
      recurrent: { ...conv, taps: 7, layers: [0, 1, 3, 5, 7] },
      window: 256,
      windowLayers: [4],
      norms: 'both',
      outputGate: 'heads',
      headDim: 128,
      ropeTheta: 1e6,
      ropeScaling: { type: 'proportional', factor: 1, share: 0.5 },
      localRopeTheta: 1e4,
      tieWordEmbeddings: true,
      rmsNormEps: 1e-4,
    });
    const without = { model_type: 'lfm3', use_sandwich_norm: false, use_attention_gate: false };
    expect(parse(without)).toMatchObject({ norms: 'before', outputGate: null });
    const qwen = { model_type: 'qwen3_5_text', num_hidden_layers: 5, head_dim: 16 };
    expect(parse(qwen)).toMatchObject({
      recurrent: { mixer: 'gated-delta', layers: [0, 1, 2, 4], taps: 4, keyHeads: 16, valueHeads: 32, keyDim: 128 },
      rotaryDim: 4,
      outputGate: 'values',
    });
    const granite = { model_type: 'granitemoehybrid', num_local_experts: 0, layer_types: ['mamba', 'attention'] };
    const sizes = { num_hidden_layers: 2, hidden_size: 64, mamba_n_heads: 4, mamba_d_state: 16 };
    const mamba = { mixer: 'mamba', layers: [0], taps: 4, groups: 1, heads: 4, headDim: 32, stateDim: 16 };
    const limits = [0, Number.POSITIVE_INFINITY];
    expect(parse({ ...granite, ...sizes }).recurrent).toMatchObject({ ...mamba, convolutionBias: true, limits });
    const newer = { layer_types: null, time_step_limit: [0, { __float__: 'Infinity' }], mamba_d_head: 32 };
    expect(parse({ ...granite, ...sizes, ...newer }).recurrent).toMatchObject({ ...mamba, layers: [0, 1], limits });
    const whole = { model_type: 'qwen3_5', text_config: { ...LLAMA, ...qwen }, tie_word_embeddings: true };
    expect(parseModelConfig(whole, 'the file')).toMatchObject({ textPart: true, tieWordEmbeddings: true });
  });

  it('reads the text part of a model that sees images, with its defaults', () => {
    const text_config = { ...LLAMA, model_type: 'mistral', sliding_window: null, eos_token_id: null };
    const whole = {
      model_type: 'mistral3',
      text_config,
      vision_config: {},
      tie_word_embeddings: true,
      eos_token_id: 9,
    };
    const read = parseModelConfig(whole, 'the file');
    expect(read).toMatchObject({ modelType: 'mistral', textPart: true, tieWordEmbeddings: true, eosTokenIds: [9] });
    const tiedBy = (whole: object, text: object): boolean =>
      parseModelConfig({ ...whole, text_config: { ...text_config, ...text } }, 'the file').tieWordEmbeddings;
    const [tied, own] = [{ tie_word_embeddings: true }, { tie_word_embeddings: false }];
    expect(tiedBy({ model_type: 'mistral3' }, own)).toBe(true);
    expect(tiedBy({ model_type: 'mistral3', ...own }, tied)).toBe(false);
    expect(tiedBy({ model_type: 'qwen3_5', ...tied }, { ...own, model_type: 'qwen3_5_text' })).toBe(true);
    expect(tiedBy({ model_type: 'lfm2_vl', tie_embedding: false }, { ...tied, model_type: 'lfm2' })).toBe(false);
    const gemma = { model_type: 'gemma3', text_config: { hidden_size: 32, num_hidden_layers: 6 } };
    expect(parseModelConfig(gemma, 'the file')).toMatchObject({
      modelType: 'gemma3_text',
      vocabSize: 262_208,
      numHeads: 8,
      headDim: 256,
      windowLayers: [0, 1, 2, 3, 4],
    });
  });

  it('reads Gemma 4 by kind of layer, as older files and newer ones have it', () => {
    const types = ['sliding_attention', 'full_attention', 'sliding_attention', 'full_attention'];
    const sizes = {
      ...LLAMA,
      num_hidden_layers: 4,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      layer_types: types,
    };
    const gemma = {
      ...sizes,
      model_type: 'gemma4_text',
      head_dim: 8,
      num_kv_shared_layers: 2,
      use_double_wide_mlp: true,
    };
    const older = { global_head_dim: 16, num_global_key_value_heads: 1, attention_k_eq_v: true };
    const own = { head_dim: 16, num_key_value_heads: 1 };
    const read = parseModelConfig({ ...gemma, ...older }, 'the file');
    const newer = { attention_k_eq_v: true, per_layer_config: { 1: own, 3: own } };
    expect(parseModelConfig({ ...gemma, ...newer }, 'the file')).toEqual(read);
    const alike = parseModelConfig({ ...gemma, per_layer_config: {} }, 'the file');
    expect(alike.wideHeads).toEqual({ headDim: 8, numKvHeads: 2, keysAreValues: false });
    expect([0, 1, 2, 3].map((layer) => layerConfig(read, layer).headDim)).toEqual([8, 16, 8, 16]);
    expect([0, 1, 2, 3].map((layer) => layerConfig(read, layer).keysOf)).toEqual([null, null, 0, 1]);
    expect(keepingLayers(read)).toEqual([0, 1]);
    expect(layerConfig(read, 3).intermediateSize).toBe(2 * read.intermediateSize);
    const names = [...parameterShapes(read).keys()];
    expect(names).toContain('model.layers.0.self_attn.v_proj.weight');
    expect(names.filter((name) => /layers\.(1.*v_proj|[23].*[kv]_proj)/.test(name))).toEqual([]);
    // A quarter of each head rotates where the file says nothing.
    expect(read.ropeScaling).toEqual({ type: 'proportional', factor: 1, share: 0.25 });
    expect(read.perLayerInput).toEqual({ width: 256, vocabSize: 262_144 });
    const larger = { ...gemma, ...older, model_type: 'gemma4_unified_text', use_bidirectional_attention: 'vision' };
    expect(parseModelConfig(larger, 'the file').perLayerInput).toBeNull();
  });

  it('joins the end tokens of both files', () => {
    expect(parseModelConfig({ ...LLAMA, eos_token_id: [7, 9] }, 'the file', [9, 11]).eosTokenIds).toEqual([7, 9, 11]);
  });

  it.each([
    ['an unknown architecture', { model_type: 'gpt2', vocab_size: undefined }, `${MODEL_TYPES.at(-1)}, got "gpt2"`],
    ['a missing size', { vocab_size: undefined }, '"vocab_size"'],
    ['a size of another type', { hidden_size: '32' }, '"hidden_size"'],
    ['another activation', { hidden_act: 'gelu' }, '"hidden_act"'],
    ['heads that do not divide', { num_key_value_heads: 3 }, 'num_attention_heads (4)'],
    ['an odd head', { hidden_size: 36 }, '"head_dim"'],
    ['a broken head', { hidden_size: 30 }, 'got 7.5'],
    ['another RoPE', { rope_scaling: { ...SCALING, rope_type: 'ntk' } }, '"ntk"'],
    ['a linear RoPE without its factor', { rope_scaling: { type: 'linear' } }, 'complete RoPE of type "linear"'],
    ['Ministral 3 without its query scale', { model_type: 'ministral3' }, '"llama_4_scaling_beta"'],
    [
      'a window whose RoPE is scaled',
      { model_type: 'olmo3', rope_parameters: { sliding_attention: { rope_type: 'linear', factor: 2 } } },
      'layers with a window is scaled by "linear"',
    ],
    ['a mixture of experts', { model_type: 'qwen3_5_moe_text' }, 'a mixture of experts ("qwen3_5_moe_text")'],
    [
      'delta heads that do not divide',
      { model_type: 'qwen3_5_text', linear_num_key_heads: 3 },
      '(32) to be a multiple',
    ],
    ['a larger model of another kind', { model_type: 'llava', text_config: LLAMA }, 'got "llava"'],
    ['an incomplete RoPE', { rope_parameters: { ...SCALING, factor: undefined } }, 'llama3'],
    [
      'a window without its size',
      { model_type: 'smollm3', layer_types: ['full_attention', 'sliding_attention'] },
      'no "sliding_window"',
    ],
    ['another kind of attention', { layer_types: ['full_attention', 'chunked_attention'] }, '"chunked_attention"'],
    ['GPTQ of no bits', { quantization_config: { quant_method: 'gptq' } }, '"bits"'],
    ['GPTQ of five bits', { quantization_config: { quant_method: 'gptq', bits: 5 } }, '"bits"'],
    ['groups of nothing', { quantization_config: { quant_method: 'gptq', bits: 4, group_size: 0 } }, '"group_size"'],
    ['huge groups', { quantization_config: { quant_method: 'awq', bits: 4, group_size: 2 ** 40 } }, '"group_size"'],
    ['AWQ for another kernel', { quantization_config: { quant_method: 'awq', bits: 4, version: 'gemv' } }, '"version"'],
    [
      'bitsandbytes of another type',
      { quantization_config: { quant_method: 'bitsandbytes', bnb_4bit_quant_type: 'int4' } },
      '"bnb_4bit_quant_type"',
    ],
    ['MLX in another mode', { quantization: { group_size: 32, bits: 4, mode: 'mxfp4' } }, '"mode"'],
    ['MLX of a billion bits', { quantization: { group_size: 64, bits: 1e9 } }, '"bits"'],
    [
      'FP8 in blocks of nothing',
      { quantization_config: { quant_method: 'fp8', weight_block_size: [0, 128] } },
      '"weight_block_size',
    ],
    [
      'compressed-tensors in another format',
      { quantization_config: { quant_method: 'compressed-tensors', format: 'nvfp4-pack-quantized' } },
      '"format"',
    ],
    [
      'MLX of recurrent layers',
      { model_type: 'lfm2', full_attn_idxs: [0], quantization: { group_size: 64, bits: 4 } },
      'in another layout',
    ],
    ['a list in place of settings', { quantization_config: [] }, 'quantised by mlx'],
    [
      'Granite 4 of experts',
      { model_type: 'granitemoehybrid', layer_types: ['attention', 'attention'], num_local_experts: 62 },
      'a mixture of 62 experts',
    ],
    [
      'Granite 4 whose heads are not as wide as its layers',
      { model_type: 'granitemoehybrid', layer_types: ['mamba', 'attention'], num_local_experts: 0, mamba_d_head: 3 },
      '"mamba_n_heads" (128) times "mamba_d_head" (3)',
    ],
    [
      'Granite 4 whose groups divide its heads otherwise',
      { model_type: 'granitemoehybrid', num_local_experts: 0, mamba_n_heads: 4, mamba_n_groups: 3 },
      'to be a multiple of "mamba_n_groups" (3)',
    ],
    ['weights of another method', { quantization_config: { quant_method: 'hqq' } }, 'by hqq'],
    [
      'weights of a method by a name of JavaScript',
      { quantization_config: { quant_method: 'constructor' } },
      'by constructor',
    ],
    ['a billion layers', { num_hidden_layers: 1e9 }, '"num_hidden_layers": expected at most'],
    ['a vocabulary beyond memory', { vocab_size: 2 ** 40 }, '"vocab_size": expected at most'],
    ['widths beyond memory', { hidden_size: 2 ** 50, head_dim: 2 ** 50 }, '"hidden_size": expected at most'],
    ['a million end tokens', { eos_token_id: Array(1e6).fill(1) }, '"eos_token_id"'],
    ['a RoPE whose angles are infinite', { rope_theta: 1e-300 }, '"rope_theta": expected at least 1'],
    ['such a RoPE in the newer spelling', { rope_parameters: { rope_theta: 1e-300 } }, '"rope_parameters.rope_theta"'],
    ['a window of a trillion tokens', { sliding_window: 2 ** 40 }, '"sliding_window": expected at most'],
    ['an epsilon that is infinite in float32', { rms_norm_eps: 1e300 }, '"rms_norm_eps"'],
    [
      'a multiplier that is infinite in float32',
      { model_type: 'granite', embedding_multiplier: 1e300 },
      '"embedding_m',
    ],
    ['capped logits', { model_type: 'gemma3_text', final_logit_softcapping: 30 }, 'capped'],
    [
      'a LongRoPE of another width',
      { model_type: 'phi3', rope_scaling: { type: 'longrope', short_factor: [1] } },
      'got 1',
    ],
    ['half of an odd width', { model_type: 'phi3', partial_rotary_factor: 0.4 }, 'rotates 3 of'],
    ['experts of Gemma 4', { model_type: 'gemma4_text', enable_moe_block: true }, 'mixture of experts'],
    ['keys of no layer', { model_type: 'gemma4_text', num_kv_shared_layers: 2 }, '"num_kv_shared_layers"'],
    ['sizes of single layers', { model_type: 'gemma4_text', per_layer_config: { 0: {} } }, '"per_layer_config"'],
    ['both ways in Gemma 4', { model_type: 'gemma4_text', use_bidirectional_attention: 'all' }, "isn't causal"],
    ['attention both ways', { model_type: 'gemma3_text', use_bidirectional_attention: true }, "isn't causal"],
  ])('refuses %s, naming the file and the field', (_, more, named) => {
    const [code, message] = fault(() => parse(more));
    expect(code).toBe('BAD_MODEL_CONFIG');
    expect(message).toContain('the file');
    expect(message).toContain(named);
  });

  it('shows no more of a file than helps', () => {
    const long = 'x'.repeat(1e6);
    const given = [
      { model_type: long },
      { hidden_act: long },
      { rope_scaling: { type: long } },
      { layer_types: [long] },
    ];
    for (const more of given) expect(fault(() => parse(more))[1].length).toBeLessThan(600);
  });
});

describe('readModelConfig', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
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
