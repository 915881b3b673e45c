import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseModelConfig } from '../../main/model/config.ts';
import { ggufArchitecture, ggufNames } from '../../main/model/gguf/architectures.ts';
import { encodeQ8, ggufPieces } from '../../main/model/gguf/file.ts';
import { ggufMetadata } from '../../main/model/gguf/metadata.ts';
import { readGgufMetadata } from '../../main/model/gguf/read.ts';
import { ggufTensors } from '../../main/model/gguf/tensors.ts';
import { type MergedModel, openMergedModel } from '../../main/model/merge.ts';
import { disposeModel, parameterShapes } from '../../main/model/model.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { fault } from './faults.ts';

const folder = temporaryFolderOfFile();
let merged: MergedModel;
beforeAll(async () => {
  disposeModel(await writeTinyModel(folder));
  merged = openMergedModel(folder, null);
});
afterAll(() => merged.close());

/** A token for each byte, as SentencePiece writes them, from `first` on. */
const byteTokens = (first: number): Record<string, number> =>
  Object.fromEntries(
    Array.from({ length: 256 }, (_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, first + byte]),
  );
const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, use_regex: true };

describe('ggufPieces', () => {
  it('writes magic, version, counts, and each tensor at a multiple of 32 bytes', () => {
    const tensors = [
      { name: 'a', shape: [3], type: 'F32' as const, pieces: () => [Float32Array.of(1, 2, 3)] },
      { name: 'b', shape: [2, 32], type: 'Q8_0' as const, pieces: () => [new Float32Array(64).fill(1)] },
      { name: 'c', shape: [2, 1], type: 'F16' as const, pieces: () => [Float32Array.of(0.5, -2)] },
    ];
    const file = Buffer.concat([...ggufPieces({ key: { type: 'uint32', value: 7 } }, tensors)]);
    expect([file.toString('latin1', 0, 4), file.readUInt32LE(4)]).toEqual(['GGUF', 3]);
    expect([file.readBigUInt64LE(8), file.readBigUInt64LE(16)]).toEqual([3n, 1n]);
    // "key" (8 + 3 bytes), its type 4 (uint32), its value.
    expect([file.toString('latin1', 32, 35), file.readUInt32LE(35), file.readUInt32LE(39)]).toEqual(['key', 4, 7]);
    const data = file.subarray(file.length - (32 + 96 + 32));
    expect([data.readFloatLE(0), data.readFloatLE(8)]).toEqual([1, 3]);
    // A block of ones: scale 1/127 as float16, then 127 thirty-two times.
    expect([data.readUInt16LE(32), data.readInt8(34), data.readInt8(65)]).toEqual([0x2008, 127, 127]);
    expect([data.readUInt16LE(128), data.readUInt16LE(130)]).toEqual([0x3800, 0xc000]);
  });
});

describe('a vocabulary of more tokens than calls hold arguments', () => {
  it('is written', () => {
    const value = Array.from({ length: 200_000 }, (_, i) => `t${i}`);
    const [head = Buffer.alloc(0)] = ggufPieces({ tokens: { type: 'strings', value } }, []);
    expect(readGgufMetadata(head).get('tokens')).toEqual(value);
  });
});

describe('readGgufMetadata', () => {
  it.each([
    ['strings', (count: bigint) => [8, count]],
    ['lists', (count: bigint) => [9, 4, count]],
    ['keys', () => []],
  ])('refuses counts of %s beyond the file at once', (_, after) => {
    for (const count of [2n ** 60n, 2n ** 40n, 10n ** 9n]) {
      const numbers = after(count).map((number) => {
        return Buffer.from(
          typeof number === 'bigint' ? BigUint64Array.of(number).buffer : Uint32Array.of(number).buffer,
        );
      });
      const [head = Buffer.alloc(0)] = ggufPieces({}, []);
      const file = Buffer.concat([head.subarray(0, 24), Buffer.from('\u0001\0\0\0\0\0\0\0k'), ...numbers]);
      file.writeBigUInt64LE(numbers.length === 0 ? count : 1n, 16);
      expect(fault(() => readGgufMetadata(file))[0]).toBe('BAD_GGUF');
    }
  });
});

describe('encodeQ8', () => {
  it('is within half a step of every number', () => {
    const data = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i * 1.7) * (i < 32 ? 3 : 0.01));
    const bytes = encodeQ8(data, 'x');
    for (const block of [0, 1]) {
      const largest = Math.max(...data.subarray(32 * block, 32 * block + 32).map(Math.abs));
      for (let i = 0; i < 32; i++) {
        const got = (bytes.readInt8(34 * block + 2 + i) * largest) / 127;
        expect(Math.abs(got - (data[32 * block + i] ?? 0))).toBeLessThanOrEqual((largest / 127) * 0.5001);
      }
    }
  });
});

describe('numbers beyond float16', () => {
  const pieces = (type: 'F16' | 'Q8_0', value: number) =>
    Buffer.concat([
      ...ggufPieces({}, [{ name: 'blk.0.up', shape: [32], type, pieces: () => [new Float32Array(32).fill(value)] }]),
    ]);

  it('are refused, naming the tensor, where they would become infinity', () => {
    expect(fault(() => pieces('F16', 65520))).toEqual(['BEYOND_FLOAT16', expect.stringContaining('"blk.0.up"')]);
    expect(fault(() => pieces('Q8_0', -1e7))).toEqual(['BEYOND_FLOAT16', expect.stringContaining('got 10000000')]);
    expect(() => pieces('Q8_0', 65520)).not.toThrow();
  });
});

describe('ggufTensors', () => {
  it("interleaves the halves of each head's rows for Llama, which llama.cpp rotates pair by pair", () => {
    const rows = (name: string): number[][] => {
      const tensor = ggufTensors(merged, 'F16').find((one) => one.name === name);
      const values = [...(tensor?.pieces() ?? [])].flatMap((piece) => [...piece]);
      return Array.from({ length: values.length / 16 }, (_, row) => values.slice(row * 16, row * 16 + 16));
    };
    const plain = (name: string): number[][] => {
      const values = [...(merged.tensors.find((one) => one.name === name)?.pieces() ?? [])].flatMap((p) => [...p]);
      return Array.from({ length: values.length / 16 }, (_, row) => values.slice(row * 16, row * 16 + 16));
    };
    const q = plain('model.layers.0.self_attn.q_proj.weight');
    // Two heads of 8 rows each.
    const order = [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15];
    expect(rows('blk.0.attn_q.weight')).toEqual(order.map((row) => q[row]));
    expect(rows('blk.0.attn_v.weight')).toEqual(plain('model.layers.0.self_attn.v_proj.weight'));
  });

  it("keeps norms in float32, and rows that aren't whole blocks in float16", () => {
    const types = new Map(ggufTensors(merged, 'Q8_0').map(({ name, type }) => [name, type]));
    expect([
      types.get('output_norm.weight'),
      types.get('blk.0.attn_q.weight'),
      types.get('blk.0.ffn_down.weight'),
    ]).toEqual(['F32', 'F16', 'Q8_0']);
  });

  it('adds the divisors of frequencies where Llama 3 scales them', () => {
    const ropeScaling = {
      type: 'llama3',
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositionEmbeddings: 64,
    } as const;
    const scaled = { ...merged, config: { ...merged.config, ropeScaling } };
    const factors = [
      ...(ggufTensors(scaled, 'F16')
        .find(({ name }) => name === 'rope_freqs.weight')
        ?.pieces() ?? []),
    ][0];
    // Wavelengths 2π, 63, 628 and 6283 beside 64: unchanged, almost the longest kept smooth, divided, divided.
    expect(factors?.[0]).toBe(1);
    expect(factors?.[1]).toBeGreaterThan(1);
    expect([factors?.[2], factors?.[3]]).toEqual([8, 8]);
  });

  const family = (name: string) =>
    openMergedModel(fileURLToPath(new URL(`../parity/fixtures/families/${name}`, import.meta.url)), null);
  const namesOf = (name: string): string[] => {
    const model = family(name);
    const names = ggufTensors(model, 'F16').map((tensor) => tensor.name);
    model.close();
    return names.filter((one) => /^blk.0.*weight$|^rope/.test(one)).map((one) => one.replace(/^blk.0.|.weight$/g, ''));
  };

  it("gives each architecture's tensors llama.cpp's names", () => {
    const mlp = ['ffn_gate', 'ffn_up', 'ffn_down'];
    const llama = ['attn_norm', 'attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_norm', ...mlp];
    for (const name of ['llama-mlp-bias', 'mistral', 'granite']) expect(namesOf(name)).toEqual(llama);
    const phi = ['attn_norm', 'attn_qkv', 'attn_output', 'ffn_norm', 'ffn_up', 'ffn_down'];
    expect(namesOf('phi4-mini-longrope')).toEqual([...phi, 'rope_factors_long', 'rope_factors_short']);
    const olmo = ['attn_output', 'attn_q_norm', 'attn_k_norm', 'post_ffw_norm', ...mlp];
    expect(namesOf('olmo2')).toEqual(['post_attention_norm', 'attn_q', 'attn_k', 'attn_v', ...olmo]);
  });

  it('refuses what llama.cpp computes with other layers', () => {
    expect(() => namesOf('smollm3')).toThrow('it leaves RoPE out of every fourth layer, this model of others');
    expect(() => namesOf('gemma3')).toThrow('it has a sliding window in all but every sixth layer');
  });

  it('names what the layers of newer architectures have', () => {
    const mlp = ['ffn_gate', 'ffn_up', 'ffn_down'];
    expect(namesOf('ministral3')).toEqual(namesOf('mistral'));
    expect(namesOf('granite4').toSorted()).toEqual(namesOf('granite').toSorted());
    const convolution = ['shortconv.conv', 'shortconv.in_proj', 'shortconv.out_proj'];
    expect(namesOf('lfm2')).toEqual(['attn_norm', ...convolution, 'ffn_norm', ...mlp]);
  });

  it('writes the numbers of Mamba heads as llama.cpp has them', () => {
    const hybrid = family('granite4-mamba');
    const found = ggufTensors(hybrid, 'F16').filter(({ name }) => name.startsWith('blk.0.ssm'));
    expect(found.map(({ name, shape, type }) => [name.slice(6), type, ...shape])).toEqual([
      ['ssm_dt.bias', 'F32', 4],
      ['ssm_a', 'F32', 4, 1],
      ['ssm_d', 'F32', 4, 1],
      ['ssm_conv1d.weight', 'F32', 96, 4],
      ['ssm_conv1d.bias', 'F32', 96],
      ['ssm_in.weight', 'F16', 164, 32],
      ['ssm_norm.weight', 'F32', 2, 32],
      ['ssm_out.weight', 'F16', 32, 64],
    ]);
    hybrid.close();
  });

  it('divides the MLP of Granite 4 into gate and up', () => {
    const model = family('granite4');
    const numbers = (pieces?: Iterable<Float32Array>) => [...(pieces ?? [])].flatMap((piece) => [...piece]);
    const written = ggufTensors(model, 'F32');
    const parts = ['ffn_gate', 'ffn_up'].map((name) => written.find((one) => one.name === `blk.0.${name}.weight`));
    expect(parts.map((part) => part?.shape.join())).toEqual(['48,32', '48,32']);
    const whole = model.tensors.find(({ name }) => name === 'model.layers.0.shared_mlp.input_linear.weight');
    expect(parts.flatMap((part) => numbers(part?.pieces()))).toEqual(numbers(whole?.pieces()));
    model.close();
  });

  it("orders Qwen3.5's value heads as llama.cpp repeats key heads, and writes what a state decays by", () => {
    const config = parseModelConfig(
      {
        ...{ model_type: 'qwen3_5_text', vocab_size: 4, hidden_size: 2, intermediate_size: 4, num_hidden_layers: 1 },
        ...{ num_attention_heads: 1, head_dim: 8, rms_norm_eps: 1e-6, layer_types: ['linear_attention'] },
        ...{ linear_key_head_dim: 1, linear_value_head_dim: 1, linear_num_key_heads: 2, linear_num_value_heads: 6 },
      },
      'config.json',
    );
    const tensors = [...parameterShapes(config)].map(([name, shape]) => ({
      name,
      shape,
      pieces: () => [Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => i)],
    }));
    const written = ggufTensors({ config, tensors, storedAs: 'F32', close: () => undefined }, 'F16');
    const numbers = (name: string) => {
      const found = written.find((one) => one.name === `blk.0.${name}`);
      return [found?.type, found?.shape, [...(found?.pieces() ?? [])].flatMap((piece) => [...piece])];
    };
    expect(numbers('ssm_dt.bias')).toEqual(['F32', [6], [0, 3, 1, 4, 2, 5]]);
    expect(numbers('ssm_a')).toEqual(['F32', [6], [0, 3, 1, 4, 2, 5].map((i) => Math.fround(-Math.exp(i)))]);
    expect(numbers('ssm_out.weight')).toEqual(['F16', [2, 6], [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]]);
    const rows = [0, 1, 2, 3, 4, 7, 5, 8, 6, 9];
    const all = rows.flatMap((row) => [0, 1, 2, 3].map((tap) => 4 * row + tap));
    expect(numbers('ssm_conv1d.weight')).toEqual(['F32', [10, 4], all]);
    expect(numbers('ssm_norm.weight')).toEqual(['F32', [1], [0]]);
    expect(numbers('attn_norm.weight')).toEqual(['F32', [2], [1, 2]]);
  });

  it.each([
    ['lfm2-bias', 'it has no biases in short convolutions'],
    ['qwen3.5', "the delta rule's keys are as wide as its values, here they aren't"],
    ['olmo3', 'its YaRN has "beta_fast" 32'],
    ['qwen3-yarn', 'it rounds the bounds of YaRN'],
  ])('refuses %s before anything is written', (name, why) => {
    const model = family(name);
    expect(() => ggufMetadata(model.config, 'no folder', { name, type: 'F16' })).toThrow(why);
    model.close();
  });

  it('refuses a RoPE of which a part of each head is left out', () => {
    const ropeScaling = { type: 'proportional', factor: 1, share: 0.5 } as const;
    expect(() => ggufArchitecture({ ...merged.config, ropeScaling })).toThrow('in proportion');
  });

  it("adds the 1 of Gemma's norms, with the layers that llama.cpp expects", () => {
    const gemma = family('gemma3');
    const config = { ...gemma.config, windowLayers: [0, 1, 2], attentionScale: 0.25, localRopeTheta: 10000 };
    const named = (tensors: readonly { readonly name: string; readonly pieces: () => Iterable<Float32Array> }[]) =>
      Object.fromEntries(tensors.map(({ name, pieces }) => [name, [...pieces()].flatMap((piece) => [...piece])]));
    const theirs = named(ggufTensors({ ...gemma, config }, 'F32'));
    const ours = named(gemma.tensors);
    const plus = (name: string) => ours[`model.layers.0.${name}.weight`]?.map((weight) => Math.fround(weight + 1));
    expect(theirs['blk.0.ffn_norm.weight']).toEqual(plus('pre_feedforward_layernorm'));
    expect(theirs['blk.0.post_attention_norm.weight']).toEqual(plus('post_attention_layernorm'));
    expect(theirs['blk.0.attn_q_norm.weight']).toEqual(plus('self_attn.q_norm'));
    expect(theirs['blk.0.attn_q.weight']).toEqual(ours['model.layers.0.self_attn.q_proj.weight']);
    gemma.close();
  });

  it('knows no tensor of another architecture', () => {
    expect(() => ggufNames('model.layers.0.block_sparse_moe.gate.weight', ggufArchitecture(merged.config))).toThrow(
      'Expected a tensor of a decoder',
    );
  });
});

describe('ggufMetadata', () => {
  it("says the model's shape and writes a byte-pair tokenizer with its merges", () => {
    const definition = {
      added_tokens: [{ id: 3, content: '<eos>', special: true }],
      pre_tokenizer: BYTE_LEVEL,
      model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: [['a', 'b']] },
    };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    const metadata = ggufMetadata({ ...merged.config, vocabSize: 7, eosTokenIds: [3] }, folder, {
      name: 'my phi-3 run',
      type: 'F16',
    });
    const value = (key: string): unknown => metadata[key]?.value;
    expect([value('general.architecture'), value('llama.block_count'), value('llama.attention.key_length')]).toEqual([
      'llama',
      1,
      8,
    ]);
    expect(value('tokenizer.ggml.tokens')).toEqual(['a', 'b', 'ab', '<eos>', '<unk>', '<pad>', '[PAD6]']);
    expect(value('tokenizer.ggml.token_type')).toEqual([1, 1, 1, 3, 3, 3, 5]);
    expect([value('tokenizer.ggml.merges'), value('tokenizer.ggml.pre')]).toEqual([['a b'], 'gpt-2']);
    expect([value('tokenizer.ggml.eos_token_id'), value('tokenizer.ggml.add_bos_token')]).toEqual([3, false]);
    expect(value('general.name')).toBe('my phi 3 run');
  });

  it("names the tokenizer's end token first, with which targets end, then the model's others", () => {
    const ends = (eosTokenIds: readonly number[], token?: string): unknown[] => {
      const definition = {
        added_tokens: ['<e>', '<f>', '<g>'].map((content, i) => ({ id: i + 1, content, special: true })),
        pre_tokenizer: BYTE_LEVEL,
        model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
      };
      writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
      writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ eos_token: token }));
      const metadata = ggufMetadata({ ...merged.config, vocabSize: 5, eosTokenIds }, folder, {
        name: 'm',
        type: 'F16',
      });
      rmSync(join(folder, 'tokenizer_config.json'));
      return ['eos', 'eot', 'eom'].map((name) => metadata[`tokenizer.ggml.${name}_token_id`]?.value ?? null);
    };
    expect(ends([1], '<f>')).toEqual([2, 1, null]);
    expect(ends([1, 2, 3], '<e>')).toEqual([1, 2, 3]);
    expect([ends([3]), ends([], '<g>'), ends([9], '<f>')]).toEqual([
      ...[
        [3, null, null],
        [3, null, null],
        [2, null, null],
      ],
    ]);
  });

  it('has llama.cpp begin texts with the begin token where the tokenizer does and the chat template does not leave it out', () => {
    const begins = {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<bos>' } }, { Sequence: { id: 'A' } }],
    };
    const adds = (post: unknown, chat?: string): unknown => {
      const definition = {
        added_tokens: [{ id: 1, content: '<bos>', special: true }],
        post_processor: post,
        pre_tokenizer: BYTE_LEVEL,
        model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
      };
      writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
      const settings = { bos_token: '<bos>', ...(chat !== undefined && { chat_template: chat }) };
      writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(settings));
      const metadata = ggufMetadata({ ...merged.config, vocabSize: 5 }, folder, { name: 'm', type: 'F16' });
      return metadata['tokenizer.ggml.add_bos_token']?.value;
    };
    expect([adds(null), adds(begins)]).toEqual([false, true]);
    expect([adds(begins, '{{ bos_token }}Q'), adds(begins, 'Q'), adds(null, '{{ bos_token }}Q')]).toEqual([
      ...[true, false, false],
    ]);
    rmSync(join(folder, 'tokenizer_config.json'));
  });

  it('has llama.cpp begin texts with a space only where a SentencePiece-like tokenizer does', () => {
    const prefix = (parts: Readonly<Record<string, unknown>>, chat?: string): unknown => {
      const model = { type: 'BPE', byte_fallback: true, vocab: { a: 0, ...byteTokens(1) }, merges: [] };
      writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ added_tokens: [], model, ...parts }));
      if (chat !== undefined)
        writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ chat_template: chat }));
      const metadata = ggufMetadata({ ...merged.config, vocabSize: 257 }, folder, { name: 'm', type: 'F16' });
      rmSync(join(folder, 'tokenizer_config.json'), { force: true });
      return metadata['tokenizer.ggml.add_space_prefix']?.value;
    };
    const replaced = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
    const metaspace = (more: object) => ({ pre_tokenizer: { type: 'Metaspace', replacement: '▁', ...more } });
    // Gemma's, and that of Llama 2 and Mistral.
    expect(prefix({ normalizer: replaced })).toBe(false);
    expect(
      prefix({ normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, replaced] } }),
    ).toBe(true);
    expect(['always', 'never'].map((prepend_scheme) => prefix(metaspace({ prepend_scheme })))).toEqual([true, false]);
    expect(prefix(metaspace({}))).toBe(true);
    const first = {
      pre_tokenizer: { type: 'Sequence', pretokenizers: [metaspace({ prepend_scheme: 'first' }).pre_tokenizer] },
    };
    expect([prefix(first), prefix(first, '<s>{{ messages[0].content }}')]).toEqual([true, false]);
  });

  it("writes Gemma's runs of spaces as spaces, which llama.cpp prints as they are", () => {
    const definition = {
      added_tokens: ['▁▁', '<▁>'].map((content, i) => ({ id: i + 1, content, special: content === '<▁>' })),
      model: { type: 'BPE', byte_fallback: true, vocab: { '▁a': 0, '▁▁': 1, ...byteTokens(3) }, merges: [] },
    };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    const metadata = ggufMetadata({ ...merged.config, vocabSize: 259 }, folder, { name: 'm', type: 'F16' });
    const first = (key: string): unknown => ((metadata[key]?.value ?? []) as unknown[]).slice(0, 4);
    expect(first('tokenizer.ggml.tokens')).toEqual(['▁a', '  ', '<▁>', '<0x00>']);
    expect(first('tokenizer.ggml.token_type')).toEqual([1, 4, 3, 6]);
  });

  it("says an architecture's own numbers, and no more context than llama.cpp computes rightly", () => {
    const values = (name: string): Record<string, unknown> => {
      const model = openMergedModel(
        fileURLToPath(new URL(`../parity/fixtures/families/${name}`, import.meta.url)),
        null,
      );
      model.close();
      const definition = { added_tokens: [], pre_tokenizer: BYTE_LEVEL, model: { type: 'BPE', vocab: {}, merges: [] } };
      writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
      const metadata = ggufMetadata({ ...model.config, vocabSize: 5 }, folder, { name, type: 'F16' });
      return Object.fromEntries(Object.entries(metadata).map(([key, { value }]) => [key, value]));
    };
    expect(values('granite')).toMatchObject({
      'granite.attention.scale': 0.2,
      'granite.embedding_scale': 3,
      'granite.residual_scale': 0.4,
      'granite.logit_scale': 1.7,
    });
    expect(values('mistral-window')).toMatchObject({ 'general.architecture': 'llama', 'llama.context_length': 16 });
    expect(values('phi4-mini-longrope')).toMatchObject({
      'phi3.rope.dimension_count': 6,
      'phi3.rope.scaling.original_context_length': 128,
      'phi3.rope.scaling.attn_factor': Math.sqrt(1 + Math.log(4) / Math.log(128)),
      'phi3.context_length': 512,
    });
    expect(values('ministral3')).toMatchObject({
      'general.architecture': 'mistral3',
      'mistral3.rope.scaling.type': 'yarn',
      'mistral3.rope.scaling.factor': 4,
      'mistral3.rope.scaling.original_context_length': 32,
      // The model's 1 by what llama.cpp takes for granted.
      'mistral3.rope.scaling.attn_factor': 1 / (1 + 0.1 * Math.log(4)),
      'mistral3.attention.temperature_scale': 0.1,
    });
    expect(values('lfm2')).toMatchObject({ 'lfm2.attention.head_count_kv': [0, 2, 0], 'lfm2.shortconv.l_cache': 3 });
    expect(values('granite4-no-rope')).toMatchObject({ 'granite.rope.scaling.finetuned': false });
  });

  it('takes a byte-level tokenizer with byte fallback for what it is, with its merges', () => {
    const definition = {
      added_tokens: [],
      pre_tokenizer: BYTE_LEVEL,
      model: { type: 'BPE', byte_fallback: true, vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'] },
    };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    const metadata = ggufMetadata({ ...merged.config, vocabSize: 3 }, folder, { name: 'm', type: 'F16' });
    expect(metadata['tokenizer.ggml.model']?.value).toBe('gpt2');
    expect(metadata['tokenizer.ggml.merges']?.value).toEqual(['a b']);
  });

  it('refuses byte fallback without a token for each byte, at which llama.cpp ends', () => {
    const model = { type: 'BPE', byte_fallback: true, vocab: { a: 0, '<0x0A>': 1 }, merges: [] };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ added_tokens: [], model }));
    expect(() => ggufMetadata({ ...merged.config, vocabSize: 2 }, folder, { name: 'm', type: 'F16' })).toThrow(
      'no token for some bytes',
    );
  });

  it('refuses a tokenizer that llama.cpp has no kind for', () => {
    const definition = { added_tokens: [], model: { type: 'WordLevel', vocab: { a: 0 } } };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    expect(() => ggufMetadata(merged.config, folder, { name: 'm', type: 'F16' })).toThrow('a WordLevel model');
    const pieces = { added_tokens: [], model: { type: 'WordPiece', vocab: { a: 0, '##b': 1 } } };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(pieces));
    expect(() => ggufMetadata(merged.config, folder, { name: 'm', type: 'F16' })).toThrow(
      'it is WordPiece, whose texts llama.cpp always lower-cases',
    );
    const other = { added_tokens: [], model: { type: 'BPE', vocab: { a: 0 }, merges: [] } };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(other));
    expect(() => ggufMetadata(merged.config, folder, { name: 'm', type: 'F16' })).toThrow('a pre-tokenizer that');
  });
});
