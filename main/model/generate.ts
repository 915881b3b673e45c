/**
 * Generation of groups: each prompt is prefilled once, its keys and values are shared by all G completions of its group,
 * and finished completions leave the batch.
 */
import * as tf from '@tensorflow/tfjs-core';
import { BraidError, inputError } from '../errors.ts';
import { append } from '../lists.ts';
import { pulse } from '../pulse.ts';
import { hash32, uniform } from '../random.ts';
import type { Completion } from '../samples/completion.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { hasFilteredSampling, penaliseInPlace, sampleFiltered, sampleRows } from '../tensor/ops/sample.ts';
import { openDecoding } from './decoding.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { type Prefill, readPrompts } from './prefill.ts';
import { argmax, draw, isPlain, processors, type SamplingOptions } from './sampler.ts';
import { cloneKept, disposeKept, type ReadRow } from './sequences.ts';
import type { StopTest } from './stop-strings.ts';
import { type EndedTurn, type ReadContext, readOn, type TurnTaking } from './turns.ts';

export interface GenerateOptions extends SamplingOptions {
  /** Completions of each prompt: G. */
  readonly numGenerations: number;
  readonly maxNewTokens: number;
  readonly eosTokenIds: readonly number[];
  /** Whether a completion ends with its last token for what it says. */
  readonly stops?: StopTest;
  /**
   * Runs a batch with the number of completions that are in flight at a time, again with fewer if it fails for memory;
   * by default all. More are sampled one batch after the other, by the same random numbers. Logits may differ in their
   * last bits, as kernels add up products of few rows in another order.
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
  /** Who answers between turns; absent: a completion is one turn. */
  readonly turns?: TurnTaking;
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
  if (options.maxNewTokens === 0) return rows.map(() => ({ ids: [], terminated: false }));
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
  checkLogits(prefill, used);
  const places = batch.map(({ prompt }) => used.indexOf(prompt));
  const rows = places.map((place) => prefill.places[place] ?? NOWHERE);
  const logits = (): tf.Tensor2D => tf.tidy(() => gatherRows(prefill.logits, tf.tensor1d(places, 'int32')));
  const flight: Flight = {
    model,
    adapter,
    prompts,
    batch,
    options,
    sequences: batch.map(() => []),
    stopped: new Set(),
  };
  const context = { kept: prefill.kept, rows, logits: openOrFree(prefill, logits) };
  prefill.logits.dispose();
  if (options.turns !== undefined) return inTurns(flight, context, options.turns);
  decodeTurn(flight, context, { active: batch.map((_, row) => row), limit: () => options.maxNewTokens });
  return finish(flight);
}

/** Rows that are generated together, and what they have so far. */
interface Flight {
  readonly model: Model;
  readonly adapter: Adapter | null;
  readonly prompts: readonly (readonly number[])[];
  readonly batch: readonly Row[];
  readonly options: GenerateOptions;
  /** Of each row, prompts left out. */
  readonly sequences: readonly number[][];
  /** Those whose last turn ended by a stop string. */
  readonly stopped: Set<number>;
}

interface DecodedTurn {
  /** The rows of the context, in order. */
  readonly active: readonly number[];
  /** Up to how many tokens each row's sequence is decoded. */
  readonly limit: (row: number) => number;
}

/** Decodes each row until its end token or its limit; takes the context over. */
function decodeTurn(flight: Flight, context: ReadContext, turn: DecodedTurn): void {
  const { model, adapter, prompts, batch, sequences, options, stopped } = flight;
  let { active } = turn;
  for (const row of active) stopped.delete(row);
  let { logits } = context;
  const left = (row: number): number => turn.limit(row) - (sequences[row] as number[]).length;
  const capacity = Math.max(...active.map(left));
  const decoding = openOrFree(context, () => openDecoding(model, adapter, context.kept, context.rows, capacity));
  const ended = new Set(options.eosTokenIds);
  try {
    for (let t = 0; ; t++) {
      const next = choose(logits, active, flight);
      logits.dispose();
      const going: number[] = [];
      next.forEach((id, i) => {
        const row = active[i] as number;
        (sequences[row] as number[]).push(id);
        options.onRow?.(row, id);
        if (ended.has(id)) return;
        if (options.stops?.(prompts[batch[row]?.prompt ?? 0] ?? [], sequences[row] ?? [])) stopped.add(row);
        else if (left(row) > 0) going.push(i);
      });
      pulse();
      options.onToken?.(t + 1, going.length);
      if (going.length === 0) return;
      if (going.length < active.length) {
        decoding.keep(going);
        active = going.map((i) => active[i] as number);
      }
      logits = decoding.step(going.map((i) => next[i] as number));
    }
  } finally {
    logits.dispose();
    decoding.dispose();
  }
}

/** The same in turns: all rows end their turn, are answered together, and those that are answered have another. */
function inTurns(flight: Flight, first: ReadContext, { maxTurnTokens, answer }: TurnTaking): Completion[] {
  const { model, adapter, batch, options, sequences } = flight;
  const ends = new Set(options.eosTokenIds);
  const masks = sequences.map((): number[] => []);
  const truncated = new Set<number>();
  let active = batch.map((_, row) => row);
  let context = first;
  for (let turn = 0; ; turn++) {
    // Decoding takes over what is kept; the next turn still needs it.
    const kept = cloneKept(context.kept);
    try {
      const starts = active.map((row) => (sequences[row] as number[]).length);
      const limits = new Map(
        active.map((row, i) => [row, Math.min((starts[i] ?? 0) + maxTurnTokens, options.maxNewTokens)]),
      );
      decodeTurn(flight, context, { active, limit: (row) => limits.get(row) ?? 0 });
      const own = active.map((row, i) => (sequences[row] as number[]).slice(starts[i]));
      active.forEach(
        (row, i) =>
          void append(
            masks[row] as number[],
            (own[i] ?? []).map(() => 1),
          ),
      );
      const ended = active.map((row, i): EndedTurn => {
        const { prompt = 0, generation = 0 } = batch[row] ?? {};
        const ids = own[i] ?? [];
        return {
          completion: prompt * options.numGenerations + generation,
          turn,
          ids,
          terminated: ends.has(ids.at(-1) ?? -1) || flight.stopped.has(row),
          byString: flight.stopped.has(row),
          room: options.maxNewTokens - (sequences[row] as number[]).length,
        };
      });
      const answers = answer(ended);
      const going = active.flatMap((row, i) => {
        const tokens = answers[i] ?? null;
        const fits = tokens !== null && tokens.length < (ended[i]?.room ?? 0);
        if (tokens !== null && !fits) truncated.add(row);
        return tokens !== null && fits ? [{ row, i, tokens }] : [];
      });
      if (going.length === 0) return finish(flight, { masks, truncated });
      for (const { row, tokens } of going) {
        append(sequences[row] as number[], tokens);
        append(
          masks[row] as number[],
          tokens.map(() => 0),
        );
      }
      const rows = going.map(({ i }) => context.rows[i] ?? NOWHERE);
      const added = going.map(({ i, tokens }) => [...(own[i] ?? []), ...tokens]);
      context = readOn(model, adapter, kept, rows, added);
      active = going.map(({ row }) => row);
    } finally {
      disposeKept(kept);
    }
  }
}

/** What was read of the prompts doesn't outlive a cache that has no room. */
function openOrFree<T>({ kept, logits }: Pick<ReadContext, 'kept' | 'logits'>, open: () => T): T {
  try {
    return open();
  } catch (error) {
    logits.dispose();
    disposeKept(kept);
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

/** `masks`: of completions in turns; `truncated`: those whose answer had no room. */
function finish(
  { sequences, options, stopped }: Flight,
  turns?: { readonly masks: readonly number[][]; readonly truncated: ReadonlySet<number> },
): Completion[] {
  const ended = new Set(options.eosTokenIds);
  return sequences.map((ids, row) => ({
    ids,
    terminated: (ended.has(ids.at(-1) ?? -1) || stopped.has(row)) && turns?.truncated.has(row) !== true,
    ...(turns !== undefined && { toolMask: turns.masks[row] ?? [] }),
  }));
}

/** A model whose numbers overflow would complete every prompt with some token. One sum over each prompt's logits. */
function checkLogits({ logits, kept }: Prefill, used: readonly number[]): void {
  const bad = tf.tidy(() => tf.sum(logits, 1).dataSync<'float32'>()).findIndex((sum) => !Number.isFinite(sum));
  if (bad < 0) return;
  logits.dispose();
  disposeKept(kept);
  throw new BraidError(
    'NOT_FINITE',
    `The model's logits after prompt ${(used[bad] ?? 0) + 1} are not finite numbers: its weights or activations overflow`,
    { remedy: 'Use a checkpoint before this; a run that came here needs a lower learning rate.' },
  );
}

const NOWHERE: ReadRow = { start: 0, length: 0, sequence: 0 };

/** The next token of every active row. A row's random number depends on its prompt, completion and position alone. */
function choose(logits: tf.Tensor2D, active: readonly number[], flight: Flight): Int32Array {
  const { batch, sequences, prompts, options } = flight;
  const base = hash32(...options.coordinates);
  const uniforms = active.map((row) => {
    const { prompt = 0, generation = 0 } = batch[row] ?? {};
    return uniform(base, prompt, generation, sequences[row]?.length ?? 0);
  });
  if (isPlain(options)) {
    return tf.tidy(
      () => sampleRows(logits, tf.tensor1d(uniforms), options.temperature).dataSync<'int32'>() as Int32Array,
    );
  }
  const vocabulary = logits.shape[1];
  const seenBy = (row: number): number[] => [...(prompts[batch[row]?.prompt ?? 0] ?? []), ...(sequences[row] ?? [])];
  if (hasFilteredSampling()) {
    const seen = options.repetitionPenalty === 1 ? [] : active.map((row) => new Set(seenBy(row)));
    return chooseThere(logits, uniforms, seen, options);
  }
  const values = logits.dataSync<'float32'>();
  const steps = processors(options);
  return Int32Array.from(active, (row, i) => {
    const rowLogits = values.slice(i * vocabulary, (i + 1) * vocabulary);
    for (const step of steps) step(rowLogits, seenBy(row));
    return options.temperature === 0 ? argmax(rowLogits) : draw(rowLogits, uniforms[i] as number);
  });
}

/** The same on a backend that filters itself. `seen`: of each row the tokens so far, if they are penalised. */
function chooseThere(
  logits: tf.Tensor2D,
  uniforms: readonly number[],
  seen: readonly ReadonlySet<number>[],
  { temperature, topK, topP, minP, repetitionPenalty }: GenerateOptions,
): Int32Array {
  const vocabulary = logits.shape[1];
  return tf.tidy(() => {
    const places = seen.flatMap((ids, row) => [...ids].map((id) => row * vocabulary + id));
    if (places.length > 0) penaliseInPlace(logits, tf.tensor1d(places, 'int32'), repetitionPenalty);
    const numbers = tf.tensor1d([...uniforms]);
    const ids =
      temperature === 0
        ? sampleRows(logits, numbers, 0)
        : sampleFiltered(logits, numbers, { temperature, topK, topP, minP: minP ?? 0 });
    return ids.dataSync<'int32'>() as Int32Array;
  });
}
