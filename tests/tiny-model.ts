/** A model folder small enough to create in every suite: random weights, one token per word. */
import '@tensorflow/tfjs-backend-cpu';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import '../main/tensor/gradients.ts';
import type { ModelConfig } from '../main/model/config.ts';
import { encodeModel } from '../main/model/export.ts';
import { randomModel } from '../main/model/load.ts';
import { createAdapter } from '../main/model/lora.ts';
import type { Model } from '../main/model/model.ts';
import { encodeAdapter } from '../main/model/peft.ts';
import { SMALL } from './small-config.ts';

/** The vocabulary after the special tokens. */
export const tinyWords: readonly string[] = Array.from({ length: 26 }, (_, i) => `w${String.fromCharCode(97 + i)}`);
const SPECIAL = ['<pad>', '<eos>', '<unk>', '<a>', '<b>', '<out>'];

const config: ModelConfig = {
  ...SMALL,
  vocabSize: SPECIAL.length + tinyWords.length,
  hiddenSize: 16,
  intermediateSize: 32,
  numHeads: 2,
  numKvHeads: 1,
  headDim: 8,
  maxPositionEmbeddings: 256,
  // A tied random model only repeats the last token of its prompt.
  tieWordEmbeddings: false,
  eosTokenIds: [1],
};

function tokenizerJson(): string {
  const vocab = Object.fromEntries([...SPECIAL, ...tinyWords].map((token, id) => [token, id]));
  const added = SPECIAL.map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab, unk_token: '<unk>' },
  });
}

/** Writes a whole model; it stays open on the portable backend for the test to compare with. */
export async function writeTinyModel(
  folder: string,
  changes: Partial<ModelConfig> = {},
  deviation?: () => number,
): Promise<Model> {
  await tf.setBackend('cpu');
  const made = { ...config, ...changes };
  const model = randomModel(made, 7, Math.min(256, made.maxPositionEmbeddings), deviation);
  writeFiles(folder, {
    ...encodeModel(model),
    'tokenizer.json': tokenizerJson(),
    'tokenizer_config.json': JSON.stringify({ eos_token: '<eos>', unk_token: '<unk>', pad_token: '<pad>' }),
  });
  return model;
}

/** Writes a LoRA checkpoint without a tokenizer, over `baseName`. */
export function writeTinyAdapter(folder: string, model: Model, baseName: string): void {
  const lora = { r: 2, alpha: 4, targetModules: ['q_proj', 'v_proj'], useRslora: false };
  writeFiles(folder, encodeAdapter(createAdapter(model, lora, 1), baseName));
}

/** One line of an interleave dataset in the model's own words. */
export function tinyRecord(id: string, words: number, offset = 0): Readonly<Record<string, unknown>> {
  const pick = (i: number): string => tinyWords[(i + offset) % tinyWords.length] ?? '';
  const a = Array.from({ length: words }, (_, i) => pick(i));
  const b = Array.from({ length: words }, (_, i) => pick(i + words));
  return {
    id,
    words,
    title_a: 'A',
    title_b: 'B',
    fragment_a: a.join(' '),
    fragment_b: b.join(' '),
    prompt: `<a> ${a.join(' ')} <b> ${b.join(' ')} <out>`,
    target: a.flatMap((word, i) => [word, b[i]]).join(' '),
  };
}

function writeFiles(folder: string, files: Readonly<Record<string, Uint8Array | string>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}
