/**
 * Random-weight models for timing steps, as Hugging Face folders with a word-level tokenizer, so that Braid and other
 * programs can load the same files: `node scripts/bench/model.ts OUT tiny|smol135`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModelConfig } from '../../main/model/config.ts';
import { encodeModel } from '../../main/model/export.ts';
import { randomModel } from '../../main/model/load.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import { wordTokenizer } from './word-tokenizer.ts';

const SHAPES = {
  tiny: {
    vocab_size: 2048,
    hidden_size: 128,
    intermediate_size: 384,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
  },
  smol135: {
    vocab_size: 49152,
    hidden_size: 576,
    intermediate_size: 1536,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
  },
} as const;

const [folder, kind] = process.argv.slice(2);
if (folder === undefined || (kind !== 'tiny' && kind !== 'smol135')) {
  throw new Error('Usage: node scripts/bench/model.ts OUT tiny|smol135');
}
const config = {
  ...SHAPES[kind],
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
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
