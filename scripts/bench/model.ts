/**
 * Random-weight models for timing steps, as Hugging Face folders with a word-level tokenizer, so that Braid and other
 * programs can load the same files: `node scripts/bench/model.ts OUT tiny|smol135|qwen3|qwen3.5`. The two Qwens have
 * 40 million weights each, a smaller Qwen3 0.6B and Qwen3.5 0.8B.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModelConfig } from '../../main/model/config.ts';
import { encodeModel } from '../../main/model/export.ts';
import { randomModel } from '../../main/model/load.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import { wordTokenizer } from './word-tokenizer.ts';

const QWEN = { vocab_size: 4096, hidden_size: 512, num_hidden_layers: 8 } as const;

const LLAMA = { architectures: ['LlamaForCausalLM'], model_type: 'llama' } as const;

const SHAPES = {
  tiny: {
    ...LLAMA,
    vocab_size: 2048,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
  },
  smol135: {
    ...LLAMA,
    vocab_size: 49152,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
  },
  qwen3: {
    ...QWEN,
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    intermediate_size: 2080,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 128,
  },
  'qwen3.5': {
    ...QWEN,
    architectures: ['Qwen3_5ForCausalLM'],
    model_type: 'qwen3_5_text',
    intermediate_size: 1536,
    num_attention_heads: 4,
    num_key_value_heads: 1,
    head_dim: 256,
    linear_num_key_heads: 8,
    linear_num_value_heads: 8,
  },
} as const;

const isKind = (name: string | undefined): name is keyof typeof SHAPES => name !== undefined && name in SHAPES;

const [folder, kind] = process.argv.slice(2);
if (folder === undefined || !isKind(kind)) {
  throw new Error(`Usage: node scripts/bench/model.ts OUT ${Object.keys(SHAPES).join('|')}`);
}
const config = {
  ...SHAPES[kind],
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  tie_word_embeddings: true,
  pad_token_id: 0,
  bos_token_id: 1,
  eos_token_id: 2,
};
const root = join(import.meta.dirname, '../..');
const backend = await openBackend({ backend: 'wasm', threads: 0, kernelsFile: join(root, 'out/kernels/kernels.wasm') });
const model = randomModel(parseModelConfig(config, kind), 1, 8);
mkdirSync(folder, { recursive: true });
const files = { ...encodeModel(model, { baseConfig: config }), ...wordTokenizer(config.vocab_size) };
for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
await backend.close();
