/**
 * Generation of groups: each prompt is prefilled once, its keys and values are shared by all G completions of its group,
 * and finished completions leave the batch.
 */
import * as tf from '@tensorflow/tfjs-core';
import { BraidError, inputError } from '../errors.ts';
import { pulse } from '../pulse.ts';
import type { Completion } from '../samples/completion.ts';
import type { DecodeRun } from '../tensor/ops/decode-step.ts';
import { gatherRows, onlyRows } from '../tensor/ops/rows.ts';
import { type Choice, type ChosenRow, choose } from './choose-next.ts';
import { openDecoding } from './decoding.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { type Prefill, readPrompts } from './prefill.ts';
import type { SamplingOptions } from './sampler.ts';
import { disposeKept, NOWHERE } from './sequences.ts';
import type { StopTest } from './stop-strings.ts';
import type { ReadContext } from './turns.ts';

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
  decode(flight, context);
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
  /** Those that a stop string ended. */
  readonly stopped: Set<number>;
}

/**
 * Decodes each row until its end token or its limit; takes the context over. Where the backend can, the step after a token
 * starts before the token is known here, so that neither waits for the other: rows that the token ended leave after it.
 * That wastes one step at the end; to read the tokens of n steps at once would waste up to n - 1.
 */
function decode(flight: Flight, context: ReadContext): void {
  const { model, adapter, prompts, batch, sequences, options, stopped } = flight;
  let active = batch.map((_, row) => row);
  let { logits } = context;
  const { kept, rows } = context;
  const decoding = openOrFree(context, () => openDecoding(model, adapter, kept, rows, options.maxNewTokens));
  const ended = new Set(options.eosTokenIds);
  const chosen = (row: number): ChosenRow => {
    const { prompt = 0, generation = 0 } = batch[row] ?? {};
    return { prompt, generation, promptIds: prompts[prompt] ?? [], ids: sequences[row] ?? [] };
  };
  try {
    for (let t = 0; ; t++) {
      const isLast = t + 1 === options.maxNewTokens;
      const choice = choose(logits, active.map(chosen), options);
      logits.dispose();
      const { next, ahead } = stepAhead(choice, isLast ? null : decoding.step);
      if (ahead !== null) logits = ahead;
      const going: number[] = [];
      next.forEach((id, i) => {
        const row = active[i] as number;
        (sequences[row] as number[]).push(id);
        options.onRow?.(row, id);
        if (ended.has(id)) return;
        if (options.stops?.(prompts[batch[row]?.prompt ?? 0] ?? [], sequences[row] ?? [])) stopped.add(row);
        else if (!isLast) going.push(i);
      });
      pulse();
      options.onToken?.(t + 1, going.length);
      if (going.length === 0) return;
      if (going.length < active.length) {
        decoding.keep(going);
        active = going.map((i) => active[i] as number);
      }
      logits = ahead === null ? decoding.step(going.map((i) => next[i] as number)) : onlyRows(ahead, going);
    }
  } finally {
    logits.dispose();
    decoding.dispose();
  }
}

/** Waits for the chosen tokens, once the `step` that reads them has started if it needn't wait for them. */
function stepAhead(
  choice: Choice,
  step: DecodeRun['step'] | null,
): { readonly next: Int32Array; readonly ahead: tf.Tensor2D | null } {
  let ahead: tf.Tensor2D | null = null;
  try {
    if (step !== null && choice.ids !== null) ahead = step(choice.ids);
    return { next: choice.numbers(), ahead };
  } catch (error) {
    ahead?.dispose();
    throw error;
  } finally {
    choice.dispose();
  }
}

/** What was read of the prompts doesn't outlive a cache that has no room. */
export function openOrFree<T>({ kept, logits }: Pick<ReadContext, 'kept' | 'logits'>, open: () => T): T {
  try {
    return open();
  } catch (error) {
    logits.dispose();
    disposeKept(kept);
    throw error;
  }
}

/** A prompt that is too long would read beyond a table, which no backend checks. */
export function checkPrompts(model: Model, prompts: readonly (readonly number[])[], maxNewTokens: number): void {
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

function finish({ sequences, options, stopped }: Flight): Completion[] {
  const ended = new Set(options.eosTokenIds);
  return sequences.map((ids, row) => ({ ids, terminated: ended.has(ids.at(-1) ?? -1) || stopped.has(row) }));
}

/** A model whose numbers overflow would complete every prompt with some token. One sum over each prompt's logits. */
export function checkLogits({ logits, kept }: Prefill, used: readonly number[]): void {
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
