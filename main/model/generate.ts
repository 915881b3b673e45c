/**
 * Generation of groups: every prompt is read once, its keys and values serve all G completions of its group, and
 * completions that have ended leave the batch.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';
import { hash32, uniform } from '../random.ts';
import { openKvCache, type PrefixKv } from '../tensor/ops/decode-attention.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { sampleRows } from '../tensor/ops/sample.ts';
import { attendPacked, attentionShape, forward } from './decoder.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { argmax, draw, isPlain, processors, type SamplingOptions } from './sampler.ts';

export interface GenerateOptions extends SamplingOptions {
  /** Completions of each prompt: G. */
  readonly numGenerations: number;
  readonly maxNewTokens: number;
  readonly eosTokenIds: readonly number[];
  /** Completions in flight at a time; more are sampled one batch after the other, with the same results. */
  readonly maxRows?: number;
  /** Coordinates of the random numbers: seed, step … Row, completion and position are added here. */
  readonly coordinates: readonly number[];
  /** Called after each token with the number done; may be used for progress or to give way to other work. */
  readonly onToken?: (done: number, active: number) => void;
  /** Called with each row's new token, for streaming. */
  readonly onRow?: (row: number, id: number) => void;
}

/** One completion: its tokens, the end token included when it came. */
export interface Completion {
  readonly ids: number[];
  readonly terminated: boolean;
}

/** One completion to be: which prompt it follows, and its number among that prompt's. */
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
  const most = Math.max(1, options.maxRows ?? rows.length);
  const done: Completion[] = [];
  for (let first = 0; first < rows.length; first += most) {
    const onRow = options.onRow && ((row: number, id: number) => options.onRow?.(first + row, id));
    const batch = rows.slice(first, first + most);
    done.push(...generateRows(model, adapter, prompts, batch, { ...options, ...(onRow && { onRow }) }));
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
  );
  const places = batch.map(({ prompt }) => used.indexOf(prompt));
  const rows = places.map((place) => prefill.places[place] ?? { start: 0, length: 0 });
  const cache = openKvCache(prefill.kv, rows, options.maxNewTokens, attentionShape(model.config));
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
      options.onToken?.(t + 1, going.length);
      if (going.length === 0 || t + 1 === options.maxNewTokens) return finish(sequences, ended);
      if (going.length < active.length) {
        cache.keep(going);
        active = going.map((i) => active[i] as number);
      }
      const last = going.map((i) => next[i] as number);
      const positions = active.map((row) => (rows[row]?.length ?? 0) + t);
      logits = decodeStep(model, adapter, last, positions, cache.attend);
      cache.advance();
    }
    return finish(sequences, ended);
  } finally {
    logits.dispose();
    cache.dispose();
  }
}

/** A fault here would read beyond a table, which no backend notices. */
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

/** Reads all prompts in one packed pass, keeping each layer's keys and values. */
function readPrompts(model: Model, adapter: Adapter | null, prompts: readonly (readonly number[])[]): Prefill {
  let total = 0;
  const places = prompts.map(({ length }) => {
    total += length;
    return { start: total - length, length };
  });
  const kv: PrefixKv[] = [];
  try {
    return { kv, places, logits: promptLogits(model, adapter, prompts, places, kv) };
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

/** One new token a row: logits [B, V]. */
function decodeStep(
  model: Model,
  adapter: Adapter | null,
  ids: readonly number[],
  positions: readonly number[],
  attend: Parameters<typeof forward>[3],
): tf.Tensor2D {
  return tf.tidy(() => {
    const batch = { ids: tf.tensor1d([...ids], 'int32'), positions: tf.tensor1d([...positions], 'int32') };
    return tf.matMul(forward(model, batch, adapter, attend), model.head.value, false, true);
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
