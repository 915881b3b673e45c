/**
 * Generation of completions of several turns. Each goes at its own pace: while one waits for its answer the others are
 * decoded, and when the answer comes it joins them again. What was read of a conversation is kept from turn to turn: short
 * answers are read token by token where the row is decoded, longer ones in one pass after what is kept.
 */
import { setTimeout } from 'node:timers/promises';
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';
import type { Completion } from '../samples/completion.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { chooseNext } from './choose-next.ts';
import { checkLogits, checkPrompts, type GenerateOptions } from './generate.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { readPrompts } from './prefill.ts';
import { type Joining, openRowsInFlight } from './rows-in-flight.ts';
import { cloneKept, disposeKept, type Kept } from './sequences.ts';
import { completionOf, endedTurn, hear, openTalks, release, say, type Talk } from './talk.ts';
import { readOn, type TurnTaking } from './turns.ts';

export interface TurnsOptions extends Omit<GenerateOptions, 'inBatches'> {
  readonly turns: TurnTaking;
  readonly memory: RowMemory;
}

/** How many completions have keys and values at a time. */
export interface RowMemory {
  most(): number;
  /** Throws the error again, unless memory ran out and `most` is now lower. */
  failed(error: unknown): void;
}

/** An answer of at most so many tokens is read where its row is decoded: it costs what as many tokens of the model's do. */
const SHORT = 48;
/** Tokens after which others may join where rows needn't wait for it, unless as many wait as are decoded. */
const PATIENCE = 16;
/** Rows that are decoded together where their numbers mustn't depend on each other: other products add up differently. */
const MOST_ROWS = 48;
/** How long nothing may come until what came begins, and how long that is waited for. */
const SETTLING_MS = 2;
const MOST_SETTLING_MS = 50;
/** Between two signs of life while every row waits. */
const BEAT_MS = 1000;

/** Completions of every prompt, G after each other: index = prompt * G + generation. */
export async function generateTurns(
  model: Model,
  adapter: Adapter | null,
  prompts: readonly (readonly number[])[],
  options: TurnsOptions,
): Promise<Completion[]> {
  const { turns, memory, maxNewTokens } = options;
  checkPrompts(model, prompts, maxNewTokens);
  const talks = openTalks(prompts, options, turns);
  if (maxNewTokens === 0) return talks.map(() => ({ ids: [], terminated: false }));
  /** Those that are decoded, in the order of their rows. */
  let decoded: Talk[] = [];
  const left = ({ ids, unread }: Talk): number => maxNewTokens - ids.length + unread.length;
  const flight = openRowsInFlight(
    model,
    adapter,
    turns.later ? {} : { least: 1, room: () => Math.max(...decoded.map(left)) },
  );
  const answers = openAnswers(options);

  const inState = (state: Talk['state']): Talk[] => talks.filter((talk) => talk.state === state);
  const isRead = ({ kept, state }: Talk): boolean => kept !== null || state === 'decoded';

  /** Those that may join now. */
  function joining(): Talk[] {
    const ready = inState('ready');
    const isOpen = turns.later ? flight.isOpen : flight.steps >= PATIENCE || ready.length >= decoded.length;
    if (decoded.length > 0 && !isOpen) return [];
    let room = Math.max(1, memory.most()) - talks.filter(isRead).length;
    const some = ready.filter((talk) => isRead(talk) || room-- > 0);
    return some.slice(0, turns.later ? MOST_ROWS - decoded.length : some.length);
  }

  /** The first token of rows that continue what was read; those whose turn continues join. `kept` is taken over. */
  function begin(rows: readonly Talk[], kept: Kept, logits: tf.Tensor2D): Joining[] {
    try {
      const going = chosen(rows, logits, rows.length === 1 ? null : rows.map(() => 0));
      const ended = rows.filter((talk) => !going.includes(talk));
      for (const talk of ended) talk.kept = cloneKept(kept);
      answers.ask(ended);
      decoded.push(...going);
      if (going.length > 0) return [{ kept, count: going.length }];
    } catch (error) {
      disposeKept(kept);
      throw error;
    }
    disposeKept(kept);
    return [];
  }

  /** Chooses a token of each row, and frees the logits; those whose turn continues. `places`: the rows' among the logits. */
  function chosen(rows: readonly Talk[], logits: tf.Tensor2D, places: readonly number[] | null): Talk[] {
    const own = places === null ? logits : tf.tidy(() => gatherRows(logits, tf.tensor1d([...places], 'int32')));
    try {
      const next = chooseNext(own, rows, options);
      return rows.filter((talk, i) => {
        const id = next[i] as number;
        const goesOn = say(talk, id, options, turns);
        options.onRow?.(talk.completion, id);
        if (goesOn) talk.state = 'decoded';
        return goesOn;
      });
    } finally {
      tf.dispose([own, logits]);
    }
  }

  /** What was read of a conversation that isn't short, and what follows it. */
  function read(talk: Talk): { readonly kept: Kept; readonly logits: tf.Tensor2D } {
    const { kept, promptIds, ids, unread } = talk;
    talk.unread = [];
    if (kept === null) {
      const prefill = readPrompts(model, adapter, [[...promptIds, ...ids]], () => options.onToken?.(0, decoded.length));
      checkLogits(prefill, [talk.prompt]);
      return prefill;
    }
    const row = { start: 0, length: kept.kv[0]?.k.shape[0] ?? 0, sequence: 0 };
    const read = readOn(model, adapter, kept, [row], [unread]);
    release(talk);
    return read;
  }

  function join(some: readonly Talk[]): void {
    const all: Joining[] = [];
    try {
      for (let at = 0; at < some.length; ) {
        const talk = some[at] as Talk;
        pulse();
        if (talk.kept !== null && talk.unread.length <= SHORT) {
          talk.state = 'decoded';
          decoded.push(talk);
          all.push({ kept: talk.kept, count: 1 });
          talk.kept = null;
          at++;
          continue;
        }
        // A prompt is read once for all its completions that begin.
        const isFirst = talk.kept === null && talk.ids.length === 0;
        const alike = (other: Talk): boolean => other.prompt === talk.prompt && other.ids.length === 0;
        const rows = isFirst ? some.slice(at).filter(alike) : [talk];
        const { kept, logits } = read(talk);
        all.push(...begin(rows, kept, logits));
        at += rows.length;
      }
    } catch (error) {
      for (const { kept } of all) disposeKept(kept);
      throw error;
    }
    flight.join(all);
  }

  /** One token of every row that is decoded. */
  function decode(): void {
    const logits = flight.step(decoded.map((talk) => talk.unread.shift() ?? 0));
    const places = decoded.flatMap(({ unread }, row) => (unread.length === 0 ? [row] : []));
    const rows = places.map((row) => decoded[row] as Talk);
    if (rows.length === 0) {
      logits.dispose();
      return;
    }
    const going = chosen(rows, logits, rows.length === decoded.length ? null : places);
    const ended = rows.filter((talk) => !going.includes(talk));
    answers.ask(ended);
    for (const talk of ended) if (talk.state === 'ready' && talk.unread.length <= SHORT) talk.state = 'decoded';
    const staying = decoded.flatMap(({ state }, row) => (state === 'decoded' ? [row] : []));
    if (staying.length === decoded.length) return;
    const leaving = decoded.flatMap(({ state }, row) => (state === 'ready' || state === 'waiting' ? [row] : []));
    const kept = flight.keptOf(leaving);
    leaving.forEach((row, i) => {
      const talk = decoded[row];
      if (talk !== undefined) talk.kept = kept[i] ?? null;
    });
    flight.keep(staying);
    decoded = staying.map((row) => decoded[row] as Talk);
  }

  /** Everything is read again, by fewer at a time. */
  function startOver(): void {
    flight.dispose();
    decoded = [];
    for (const talk of talks) {
      release(talk);
      talk.unread = [];
      if (talk.state === 'decoded') talk.state = 'ready';
    }
  }

  try {
    if (turns.opens === true) answers.ask(talks);
    for (let done = 0; ; ) {
      try {
        const some = joining();
        if (some.length > 0) join(some);
        if (decoded.length > 0) decode();
        pulse();
        options.onToken?.(++done, decoded.length);
      } catch (error) {
        memory.failed(error);
        startOver();
      }
      const waiting = inState('waiting').length;
      if (waiting === 0 && decoded.length === 0 && inState('ready').length === 0) return talks.map(completionOf);
      if (waiting > 0) await answers.arrived(decoded.length === 0 && inState('ready').length === 0);
    }
  } finally {
    flight.dispose();
    for (const talk of talks) release(talk);
  }
}

/** Asks whoever answers, and hears what comes later. */
function openAnswers(options: TurnsOptions) {
  const { turns, onToken } = options;
  let failure: { readonly error: unknown } | null = null;
  let heard = 0;
  let wake: () => void = () => undefined;

  async function later(talk: Talk, promise: Promise<Parameters<typeof hear>[1]>): Promise<void> {
    try {
      hear(talk, await promise, options);
      heard++;
    } catch (error) {
      failure ??= { error };
    }
    wake();
  }

  return {
    ask: (ended: readonly Talk[]): void => {
      if (ended.length === 0) return;
      const now = performance.now();
      for (const { began, turn } of ended) if (turn >= 0) turns.times?.turn((now - began) / 1000);
      const given = turns.answer(ended.map((talk) => endedTurn(talk, options)));
      ended.forEach((talk, i) => {
        const answer = given[i] ?? null;
        if (answer instanceof Promise) {
          talk.state = 'waiting';
          void later(talk, answer);
        } else hear(talk, answer, options);
      });
      turns.times?.idle((performance.now() - now) / 1000);
    },
    /** Lets answers come in; waits for one where there is nothing else to do. */
    arrived: async (isIdle: boolean): Promise<void> => {
      const began = performance.now();
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const turn = new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      if (!isIdle) await turn;
      else {
        const beat = setInterval(() => onToken?.(0, 0), BEAT_MS);
        await next.finally(() => clearInterval(beat));
        await settled(() => heard);
        turns.times?.idle((performance.now() - began) / 1000);
      }
      if (failure !== null) throw failure.error;
    },
  };
}

/** Answers that come together begin together: waits until no more come. */
async function settled(heard: () => number): Promise<void> {
  const until = performance.now() + MOST_SETTLING_MS;
  for (let before = -1; before !== heard() && performance.now() < until; ) {
    before = heard();
    await setTimeout(SETTLING_MS);
  }
}
