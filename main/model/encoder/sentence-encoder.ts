/**
 * Sentence embeddings by an encoder such as all-MiniLM-L6-v2 or all-mpnet-base-v2: the mean of the last layer's vectors
 * (or the first one, depending on the folder's pooling), normalised to length 1 (Reimers and Gurevych 2019).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../read-json.ts';
import { loadEncoder } from './encoder.ts';

export interface SentenceEncoder {
  /** The vectors of texts, in order, each of length 1. [D] */
  encode(texts: readonly string[]): Float32Array[];
  dispose(): void;
}

/** Loads the encoder of a Hugging Face folder: config.json, tokenizer.json, model.safetensors. */
export function loadSentenceEncoder(folder: string): SentenceEncoder {
  const { config, hidden, dispose } = loadEncoder(folder);
  const firstOnly = settingOf(folder, '1_Pooling/config.json', 'pooling_mode_cls_token') === true;
  const most = settingOf(folder, 'sentence_bert_config.json', 'max_seq_length');
  return {
    encode: (texts) =>
      hidden(texts, isLength(most) ? most : undefined).map((states) =>
        unit(firstOnly ? states.slice(0, config.hiddenSize) : meanRow(states, config.hiddenSize)),
      ),
    dispose,
  };
}

/** A setting in a file of sentence-transformers: how vectors are pooled, how many tokens of a text are read. */
function settingOf(folder: string, name: string, key: string): unknown {
  const file = join(folder, name);
  return existsSync(file) ? (readSettings(file) as Readonly<Record<string, unknown>> | null)?.[key] : undefined;
}

const isLength = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 2;

function meanRow(x: Float32Array, size: number): Float32Array {
  const out = new Float32Array(size);
  for (let i = 0; i < x.length; i++) out[i % size] = (out[i % size] ?? 0) + (x[i] ?? 0) / (x.length / size);
  return out;
}

function unit(x: Float32Array): Float32Array {
  const length = Math.sqrt(x.reduce((total, value) => total + value * value, 0));
  return length === 0 ? x : x.map((value) => value / length);
}
