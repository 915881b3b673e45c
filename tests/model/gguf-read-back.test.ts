import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../../main/model/config.ts';
import { ggufMetadata } from '../../main/model/gguf/metadata.ts';
import { checkReadBack } from '../../main/model/gguf/read-back.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { fault } from './faults.ts';

const folder = temporaryFolderOfFile();

const shape = { hidden_size: 8, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 1 };
const configOf = (vocab_size: number) => parseModelConfig({ model_type: 'llama', vocab_size, ...shape }, 'config.json');
const check = (size: number, changed: object = {}): void =>
  checkReadBack({ ...ggufMetadata(configOf(size), folder, { name: 'm', type: 'F16' }), ...changed }, folder);

/** SentencePiece's vocabulary: bytes, characters and what merges make. */
function writePieces(merges: readonly string[], more: object): number {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const letters = [...' abcdefghijklmnopqrstuvwxyz▁'];
  // The tokens of merges come last first, so that their ids are in another order.
  const made = merges.map((merge) => merge.replace(' ', '')).reverse();
  const vocab = Object.fromEntries([...bytes, ...letters, ...made].map((token, id) => [token, id]));
  const model = { type: 'BPE', byte_fallback: true, vocab, merges };
  const rest = { added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ ...rest, model, ...more }));
  return Object.keys(vocab).length;
}

const SPACES = { normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' } };

describe('checkReadBack', () => {
  it.each(['llama3', 'qwen2'])('finds the tokens of %s in what is written', (name) => {
    cpSync(fileURLToPath(new URL(`../parity/fixtures/tokenizers/${name}`, import.meta.url)), folder, {
      recursive: true,
    });
    const { model, added_tokens: added } = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8'));
    const size = Object.keys(model.vocab).length + added.length;
    expect(() => check(size)).not.toThrow();
    const merges = { type: 'strings', value: (model.merges as string[]).slice(1) };
    expect(fault(() => check(size, { 'tokenizer.ggml.merges': merges }))).toEqual([
      ...['UNSUPPORTED_TOKENIZER', expect.stringContaining('read back, the file has the tokens')],
    ]);
    rmSync(join(folder, 'tokenizer_config.json'), { force: true });
  });

  // As in Llama 2, where runs of spaces have the first ids and the last merges.
  it("keeps SentencePiece's order of merging where the ids have another", () => {
    expect(() => check(writePieces(['▁ s', 'e s', '▁ ▁', 'e r'], SPACES))).not.toThrow();
  });

  it('refuses what llama.cpp joins and the tokenizer keeps apart', () => {
    const pre_tokenizer = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', split: true };
    const size = writePieces(['▁ ▁', 'e r'], { pre_tokenizer });
    expect(fault(() => check(size))).toEqual([
      ...['UNSUPPORTED_TOKENIZER', expect.stringContaining("llama.cpp can't cut texts as this model's tokenizer does")],
    ]);
  });
});
