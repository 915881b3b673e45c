/**
 * Generation of groups: each prompt is prefilled once, its keys and values are shared by all G completions of its group,
 * and finished completions leave the batch.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';
import { pulse } from '../pulse.ts';
import { hash32, uniform } from '../random.ts';
import type { PrefixKv } from '../tensor/ops/decode-attention.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { sampleRows } from '../tensor/ops/sample.ts';
import { attendPacked, forward } from './decoder.ts';
import { openDecoding } from './decoding.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { argmax, draw, isPlain, processors, type SamplingOptions } from './sampler.ts';

export interface GenerateOptions extends SamplingOptions {
  /** Completions of each prompt: G. */
  readonly numGenerations: number;
  readonly maxNewTokens: number;
  readonly eosTokenIds: readonly number[];
  /**
   * Runs a batch with the number of completions that are in flight at a time, again with fewer if it fails for memory;
   * by default all. More are sampled one batch after the other, with the same results.
   */
  readonly inBatches?: (work: (maxRows: number) => Completion[]) => Completion[];
  /** Coordinates of the random numbers: seed, step … Row, completion and position are added here. */
  readonly coordinates: readonly number[];
  /**
   * Called after each token with the number done, and with 0 after each layer during prefill: for progress, or as a
   * heartbeat.
   */
  readonly onToken?: (done: number, active: number) => void;
  /** Called with each row's new token, for streaming. */
  readonly onRow?: (row: number, id: number) => void;
}

/** One completion: its tokens, including the end token if it was generated. */
export interface Completion {
  readonly ids: number[];
  readonly terminated: boolean;
}

/** A completion to generate: its prompt, and its index among that prompt's completions. */
interface Row {
  readonly prompt: number;
  readonly generation: number;
}

/** Completions of every prompt, G after each other: index = prompt * G + generation. */
export function generate(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  options: GenerateOptions,
): Completion[] {
  checkPrompts(model, prompts, options.maxNewTokens);
  const rows = prompts.flatMap((_, prompt) =>
    Array.from({ length: options.numGenerations }, (_, generation): Row => ({ prompt, generation })),
  );
  const inBatches = options.inBatches ?? ((work) => work(rows.length));
  const done: Completion[] = [];
  while (done.length < rows.length) {
    const first = done.length;
    const onRow = options.onRow && ((row: number, id: number) => options.onRow?.(first + row, id));
    done.push(
      ...inBatches((most) => {
        const batch = rows.slice(first, first + Math.max(1, most));
        return generateRows(model, adapter, prompts, batch, { ...options, ...(onRow && { onRow }) });
      }),
    );
  }
  return done;
}

/** Completions that are in flight together. */
function generateRows(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  batch: readonly Row[],
  options: GenerateOptions,
): Completion[] {
  const used = [...new Set(batch.map(({ prompt }) => prompt))];
  const prefill = readPrompts(
    model,
    adapter,
    used.map((prompt) => prompts[prompt] ?? []),
    () => options.onToken?.(0, batch.length),
  );
  const places = batch.map(({ prompt }) => used.indexOf(prompt));
  const rows = places.map((place) => prefill.places[place] ?? { start: 0, length: 0 });
  const decoding = openOrFree(prefill, () => openDecoding(model, adapter, prefill.kv, rows, options.maxNewTokens));
  const sequences = rows.map((): number[] => []);
  const ended = new Set(options.eosTokenIds);
  let active = rows.map((_, row) => row);
  let logits = tf.tidy(() => gatherRows(prefill.logits, tf.tensor1d(places, 'int32')));
  prefill.logits.dispose();
  try {
    for (let t = 0; t < options.maxNewTokens; t++) {
      const next = choose(logits, active, batch, sequences, prompts, t, options);
      logits.dispose();
      const going: number[] = [];
      next.forEach((id, i) => {
        const row = active[i] as number;
        (sequences[row] as number[]).push(id);
        options.onRow?.(row, id);
        if (!ended.has(id)) going.push(i);
      });
      pulse();
      options.onToken?.(t + 1, going.length);
      if (going.length === 0 || t + 1 === options.maxNewTokens) return finish(sequences, ended);
      if (going.length < active.length) {
        decoding.keep(going);
        active = going.map((i) => active[i] as number);
      }
      logits = decoding.step(going.map((i) => next[i] as number));
    }
    return finish(sequences, ended);
  } finally {
    logits.dispose();
    decoding.dispose();
  }
}

/** What was read of the prompts doesn't outlive a cache that has no room. */
function openOrFree<T>({ kv, logits }: Prefill, open: () => T): T {
  try {
    return open();
  } catch (error) {
    tf.dispose([logits, kv.map(({ k, v }) => [k, v])]);
    throw error;
  }
}

/** A prompt that is too long would read beyond a table, which no backend checks. */
function checkPrompts(model: Model, prompts: readonly (readonly number[])[], maxNewTokens: number): void {
  prompts.forEach((prompt, index) => {
    if (prompt.length === 0)
      throw inputError('EMPTY_PROMPT', `prompt ${index + 1}: expected at least one token, got none`);
    if (prompt.length + maxNewTokens <= model.maxLength) return;
    throw inputError(
      'CONTEXT_TOO_SHORT',
      `prompt ${index + 1}: ${prompt.length} tokens and ${maxNewTokens} new ones, the model was loaded for ${model.maxLength}`,
    );
  });
}

function finish(sequences: readonly number[][], ended: ReadonlySet<number>): Completion[] {
  return sequences.map((ids) => ({ ids, terminated: ended.has(ids.at(-1) ?? -1) }));
}

interface Prefill {
  readonly kv: readonly PrefixKv[];
  readonly places: readonly { readonly start: number; readonly length: number }[];
  /** Logits after each prompt's last token, [P, V]. */
  readonly logits: tf.Tensor2D;
}

/** Prefills all prompts in one packed pass, keeping each layer's keys and values. */
function readPrompts(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  onLayer: () => void,
): Prefill {
  let total = 0;
  const places = prompts.map(({ length }) => {
    total += length;
    return { start: total - length, length };
  });
  const kv: PrefixKv[] = [];
  try {
    return { kv, places, logits: promptLogits(model, adapter, prompts, places, kv, onLayer) };
  } catch (error) {
    tf.dispose(kv.flatMap(({ k, v }) => [k, v]));
    throw error;
  }
}

/** Logits after each prompt's last token [P, V]; each layer's keys and values go to `kv`. */
function promptLogits(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  places: Prefill['places'],
  kv: PrefixKv[],
  onLayer: () => void,
): tf.Tensor2D {
  return tf.tidy(() => {
    const ids = tf.tensor1d(prompts.flat(), 'int32');
    const positions = tf.tensor1d(
      prompts.flatMap((prompt) => prompt.map((_, i) => i)),
      'int32',
    );
    const segments = tf.tensor2d(
      places.flatMap(({ start, length }) => [start, length, 0, 0]),
      [places.length, 4],
      'int32',
    );
    const attend = attendPacked(model.config, segments);
    const hidden = forward(model, { ids, positions }, adapter, (layer, q, k, v) => {
      kv.push({ k: tf.keep(k), v: tf.keep(v) });
      onLayer();
      return attend(layer, q, k, v);
    });
    const last = gatherRows(
      hidden,
      tf.tensor1d(
        places.map(({ start, length }) => start + length - 1),
        'int32',
      ),
    ); // [P, D]
    return tf.matMul(last, model.head.value, false, true) as tf.Tensor2D;
  });
}

/** The next token of every active row. A row's random number depends on its prompt, completion and position alone. */
function choose(
  logits: tf.Tensor2D,
  active: readonly number[],
  batch: readonly Row[],
  sequences: readonly number[][],
  prompts: readonly (readonly number[])[],
  position: number,
  options: GenerateOptions,
): Int32Array {
  const base = hash32(...options.coordinates);
  const uniforms = active.map((row) => {
    const { prompt = 0, generation = 0 } = batch[row] ?? {};
    return uniform(base, prompt, generation, position);
  });
  if (isPlain(options)) {
    return tf.tidy(
      () => sampleRows(logits, tf.tensor1d(uniforms), options.temperature).dataSync<'int32'>() as Int32Array,
    );
  }
  const vocabulary = logits.shape[1];
  const values = logits.dataSync<'float32'>();
  const steps = processors(options);
  return Int32Array.from(active, (row, i) => {
    const rowLogits = values.slice(i * vocabulary, (i + 1) * vocabulary);
    const seen = [...(prompts[batch[row]?.prompt ?? 0] ?? []), ...(sequences[row] ?? [])];
    for (const step of steps) step(rowLogits, seen);
    return options.temperature === 0 ? argmax(rowLogits) : draw(rowLogits, uniforms[i] as number);
  });
}
