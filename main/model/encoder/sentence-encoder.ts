/**
 * Sentence embeddings by an encoder such as all-MiniLM-L6-v2 or all-mpnet-base-v2: the mean of the last layer's vectors
 * (or the first one, depending on the folder's pooling), normalised to length 1 (Reimers and Gurevych 2019).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../read-json.ts';
import { loadEncoder } from './encoder.ts';

export interface SentenceEncoder {
  /** The vector of a text, of length 1. [D] */
  encode(text: string): Float32Array;
  dispose(): void;
}

/** Loads the encoder of a Hugging Face folder: config.json, tokenizer.json, model.safetensors. */
export function loadSentenceEncoder(folder: string): SentenceEncoder {
  const { config, hidden, dispose } = loadEncoder(folder);
  const firstOnly = poolsFirst(folder);
  return {
    encode: (text) => {
      const states = hidden(text);
      return unit(firstOnly ? states.slice(0, config.hiddenSize) : meanRow(states, config.hiddenSize));
    },
    dispose,
  };
}

/** sentence-transformers keeps the pooling mode in a folder of its own; the default is the mean. */
function poolsFirst(folder: string): boolean {
  const file = join(folder, '1_Pooling', 'config.json');
  if (!existsSync(file)) return false;
  return (readSettings(file) as { readonly pooling_mode_cls_token?: unknown } | null)?.pooling_mode_cls_token === true;
}

function meanRow(x: Float32Array, size: number): Float32Array {
  const out = new Float32Array(size);
  for (let i = 0; i < x.length; i++) out[i % size] = (out[i % size] ?? 0) + (x[i] ?? 0) / (x.length / size);
  return out;
}

function unit(x: Float32Array): Float32Array {
  const length = Math.sqrt(x.reduce((total, value) => total + value * value, 0));
  return length === 0 ? x : x.map((value) => value / length);
}
