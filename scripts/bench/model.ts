/**
 * Random-weight models for timing steps, as Hugging Face folders with a word-level tokenizer, so that Braid and other
 * programs can load the same files: `node scripts/bench/model.ts OUT tiny|smol135`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseModelConfig } from '../../main/model/config.ts';
import { encodeModel } from '../../main/model/export.ts';
import { randomModel } from '../../main/model/load.ts';
import { openBackend } from '../../main/trainer/backend.ts';

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
const SPECIAL = ['<pad>', '<bos>', '<eos>', '<unk>', '<a>', '<b>', '<out>'];

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
const files = { ...encodeModel(model, { baseConfig: config }), ...tokenizer(config.vocab_size) };
for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
await backend.close();

function tokenizer(size: number): Record<string, string> {
  const vocabulary = [...SPECIAL, ...Array.from({ length: size - SPECIAL.length }, (_, i) => `w${i}`)];
  const added = SPECIAL.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const model = {
    type: 'WordLevel',
    unk_token: '<unk>',
    vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
  };
  const parts = {
    version: '1.0',
    truncation: null,
    padding: null,
    normalizer: null,
    post_processor: null,
    decoder: null,
  };
  const settings = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    pad_token: '<pad>',
    bos_token: '<bos>',
    eos_token: '<eos>',
    unk_token: '<unk>',
  };
  return {
    'tokenizer.json': JSON.stringify({
      ...parts,
      added_tokens: added,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      model,
    }),
    'tokenizer_config.json': JSON.stringify(settings),
  };
}
