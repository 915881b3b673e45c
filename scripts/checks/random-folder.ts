/** Model folders of published shapes with random weights, and a task that random answers are scored differently by. */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseModelConfig } from '../../main/model/config.ts';
import { parameterShapes } from '../../main/model/model.ts';
import { randomStream } from '../../main/random.ts';
import { wordTokenizer } from '../bench/word-tokenizer.ts';

const LLAMA = { architectures: ['LlamaForCausalLM'], model_type: 'llama', rms_norm_eps: 1e-5, rope_theta: 500_000 };
const COMMON = {
  max_position_embeddings: 8192,
  tie_word_embeddings: true,
  pad_token_id: 0,
  bos_token_id: 1,
  eos_token_id: 2,
};

const QWEN3 = { ...COMMON, model_type: 'qwen3', num_attention_heads: 16, num_key_value_heads: 8, head_dim: 128 };
const SMOLLM3 = {
  ...COMMON,
  model_type: 'smollm3',
  vocab_size: 128_256,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  rope_theta: 5e6,
};
const QWEN3_5 = {
  ...COMMON,
  model_type: 'qwen3_5_text',
  vocab_size: 248_320,
  hidden_size: 1024,
  intermediate_size: 3584,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  head_dim: 256,
  linear_num_key_heads: 16,
  linear_num_value_heads: 16,
  rope_parameters: { rope_type: 'default', rope_theta: 1e7, partial_rotary_factor: 0.25 },
};
const LFM2 = {
  ...COMMON,
  model_type: 'lfm2',
  vocab_size: 65_536,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  full_attn_idxs: [2, 5, 8, 10, 12, 14],
};
const LFM3 = {
  ...COMMON,
  model_type: 'lfm3',
  vocab_size: 128_000,
  num_attention_heads: 16,
  num_key_value_heads: 4,
};
const OLMO3 = {
  ...COMMON,
  model_type: 'olmo3',
  vocab_size: 100_352,
  num_hidden_layers: 16,
  tie_word_embeddings: false,
};
const MINISTRAL3 = {
  ...COMMON,
  model_type: 'ministral3',
  vocab_size: 131_072,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  head_dim: 128,
  rope_parameters: {
    ...{ rope_type: 'yarn', rope_theta: 1e6, factor: 16, original_max_position_embeddings: 16_384 },
    llama_4_scaling_beta: 0.1,
  },
};
const GEMMA4 = {
  ...COMMON,
  model_type: 'gemma4_text',
  vocab_size: 262_144,
  num_hidden_layers: 15,
  num_attention_heads: 4,
  num_key_value_heads: 1,
  num_kv_shared_layers: 5,
  use_double_wide_mlp: true,
  layer_types: Array.from({ length: 15 }, (_, i) => (i % 5 === 4 ? 'full_attention' : 'sliding_attention')),
  hidden_size_per_layer_input: 64,
  final_logit_softcapping: 30,
};
const GRANITE4 = {
  ...COMMON,
  model_type: 'granitemoehybrid',
  vocab_size: 100_352,
  num_local_experts: 0,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  embedding_multiplier: 12,
  attention_multiplier: 0.015625,
  residual_multiplier: 0.263,
  logits_scaling: 4,
  position_embedding_type: 'rope',
};
const granite4Sizes = (layers: number, inner: number) => ({
  num_hidden_layers: layers,
  layer_types: Array.from({ length: layers }, () => 'attention'),
  intermediate_size: inner,
  shared_intermediate_size: inner,
});
/** Its hybrids. */
const granite4Hybrid = (layers: number, inner: number, attends: readonly number[]) => ({
  ...granite4Sizes(layers, inner),
  layer_types: Array.from({ length: layers }, (_, layer) => (attends.includes(layer) ? 'attention' : 'mamba')),
  position_embedding_type: 'nope',
  num_attention_heads: 12,
  mamba_n_heads: 48,
  mamba_d_state: 128,
});

/** config.json of each: vocabulary, widths and heads as published. */
export const FOLDER_SHAPES = {
  '135M': {
    ...LLAMA,
    ...COMMON,
    vocab_size: 49_152,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    head_dim: 64,
  },
  '0.5B': {
    ...COMMON,
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    vocab_size: 151_936,
    hidden_size: 896,
    intermediate_size: 4864,
    num_hidden_layers: 24,
    num_attention_heads: 14,
    num_key_value_heads: 2,
  },
  '1B': {
    ...LLAMA,
    ...COMMON,
    vocab_size: 128_256,
    hidden_size: 2048,
    intermediate_size: 8192,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    head_dim: 64,
  },
  '3B': {
    ...LLAMA,
    ...COMMON,
    vocab_size: 128_256,
    hidden_size: 3072,
    intermediate_size: 8192,
    num_hidden_layers: 28,
    num_attention_heads: 24,
    num_key_value_heads: 8,
    head_dim: 128,
  },
  // The other families, by what each calls its sizes; some smaller than any that is published.
  'qwen3-0.6B': { ...QWEN3, vocab_size: 151_936, hidden_size: 1024, intermediate_size: 3072, num_hidden_layers: 28 },
  'smollm3-0.5B': { ...SMOLLM3, hidden_size: 1024, intermediate_size: 5504, num_hidden_layers: 18 },
  'smollm3-1B': { ...SMOLLM3, hidden_size: 2048, intermediate_size: 11_008, num_hidden_layers: 10 },
  'qwen3.5-0.5B': { ...QWEN3_5, num_hidden_layers: 12 },
  'qwen3.5-0.8B': { ...QWEN3_5, num_hidden_layers: 24 },
  'lfm2-0.35B': { ...LFM2, hidden_size: 1024, intermediate_size: 6656, num_attention_heads: 16 },
  'lfm2-1.2B': { ...LFM2, hidden_size: 2048, intermediate_size: 12_288, num_attention_heads: 32 },
  'lfm3-0.5B': { ...LFM3, hidden_size: 1024, intermediate_size: 3840, num_hidden_layers: 20 },
  'lfm3-1.7B': { ...LFM3, hidden_size: 2048, intermediate_size: 7680, num_hidden_layers: 24 },
  'olmo3-0.5B': {
    ...OLMO3,
    hidden_size: 1024,
    intermediate_size: 4096,
    num_attention_heads: 8,
    num_key_value_heads: 8,
  },
  'olmo3-1B': {
    ...OLMO3,
    hidden_size: 2048,
    intermediate_size: 8192,
    num_attention_heads: 16,
    num_key_value_heads: 16,
  },
  'ministral3-0.5B': { ...MINISTRAL3, hidden_size: 1024, intermediate_size: 3072, num_hidden_layers: 24 },
  'ministral3-1B': { ...MINISTRAL3, hidden_size: 2048, intermediate_size: 6144, num_hidden_layers: 14 },
  'gemma4-0.5B': { ...GEMMA4, hidden_size: 640, intermediate_size: 2560 },
  'gemma4-1B': { ...GEMMA4, hidden_size: 1152, intermediate_size: 4608 },
  'granite4-0.35B': { ...GRANITE4, ...granite4Sizes(28, 2048), hidden_size: 1024 },
  'granite4-h-0.35B': { ...GRANITE4, ...granite4Hybrid(32, 2048, [10, 13, 17, 27]), hidden_size: 768 },
  'granite4-h-1B': { ...GRANITE4, ...granite4Hybrid(40, 4096, [5, 15, 25, 35]), hidden_size: 1536 },
  'granite4-1B': { ...GRANITE4, ...granite4Sizes(40, 4096), hidden_size: 2048 },
} as const;

export type FolderShape = keyof typeof FOLDER_SHAPES;

/** Random numbers are drawn once and used again and again: drawing billions would take longer than the check. */
const BLOCK = 2 ** 20;

/** Writes a model in bfloat16 with a word-level tokenizer of its whole vocabulary. */
export function writeRandomFolder(folder: string, shape: FolderShape): void {
  const config = { ...FOLDER_SHAPES[shape], torch_dtype: 'bfloat16' };
  mkdirSync(folder, { recursive: true });
  const files = { 'config.json': JSON.stringify(config, null, 2), ...wordTokenizer(config.vocab_size) };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const shapes = [...parameterShapes(parseModelConfig(config, shape))];
  let offset = 0;
  const entries = shapes.map(([name, own]) => {
    const bytes = 2 * own.reduce((product, size) => product * size, 1);
    offset += bytes;
    return [name, { dtype: 'BF16', shape: own, data_offsets: [offset - bytes, offset] }] as const;
  });
  const head = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(head.length));
  const { next } = randomStream(1);
  const floats = Float32Array.from({ length: BLOCK }, () => 0.04 * (next() - 0.5));
  const random = Buffer.from(Uint16Array.from(new Uint32Array(floats.buffer), (word) => word >>> 16).buffer);
  const ones = Buffer.from(new Uint16Array(BLOCK).fill(0x3f80).buffer);
  const file = openSync(join(folder, 'model.safetensors'), 'w');
  try {
    for (const part of [size, head]) writeSync(file, part);
    for (const [, own] of shapes) {
      const from = own.length === 1 && !own.includes(0) ? ones : random;
      let left = 2 * own.reduce((product, n) => product * n, 1);
      while (left > 0) left -= writeSync(file, from, 0, Math.min(left, from.length));
    }
  } finally {
    closeSync(file);
  }
}

/** Writes a task whose reward tells random answers apart, and records with `words` words in each of two texts. */
export function writeRandomTask(
  folder: string,
  words: number,
  train: number,
  test: number,
): { readonly dataset: string } {
  const task = join(folder, 'task');
  mkdirSync(task, { recursive: true });
  writeFileSync(
    join(task, 'task.yaml'),
    `title: Even words\nfields:\n  text: text\nprompt: "{text}"\nmax_completion_length: ${2 * words + 4}\nrewards:\n  even: 1\nhighest_reward: 1\nsuccess_threshold: 0.9\nshow: plain\n`,
  );
  const reward = `export function reward({ completion }) {\n  const numbers = completion.split(/\\s+/).map((word) => Number(word.slice(1)));\n  return { even: numbers.filter((n) => n % 2 === 0).length / Math.max(numbers.length, 1) };\n}\n`;
  writeFileSync(join(task, 'reward.ts'), reward);
  const stream = randomStream(2);
  const text = (): string => Array.from({ length: 2 * words }, () => `w${stream.below(4000)}`).join(' ');
  const lines = (count: number, name: string): string =>
    Array.from({ length: count }, (_, i) => `${JSON.stringify({ id: `${name}-${i}`, text: text() })}\n`).join('');
  const dataset = join(folder, 'records.jsonl');
  writeFileSync(dataset, lines(train, 'train'));
  writeFileSync(join(folder, 'records.test.jsonl'), lines(test, 'test'));
  return { dataset };
}
