/**
 * Generation of completions of several turns. Each goes at its own pace: while one waits for its answer the others are
 * decoded, and when the answer comes it is read along with them. What was read of a conversation is kept from turn to turn.
 */
import { setTimeout } from 'node:timers/promises';
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';
import type { Completion } from '../samples/completion.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { chooseNext } from './choose-next.ts';
import { checkLogits, checkPrompts, type GenerateOptions, openOrFree } from './generate.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { readPrompts } from './prefill.ts';
import { NOWHERE } from './sequences.ts';
import { completionOf, endedTurn, hear, openTalks, say, type Talk } from './talk.ts';
import { openTurnRows } from './turn-rows.ts';
import type { TurnTaking } from './turns.ts';

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
  const answers = openAnswers(options);
  if (turns.opens === true) answers.ask(talks);
  let done = 0;
  const onStep = (active: number): void => options.onToken?.(++done, active);
  for (;;) {
    const open = talks.filter(({ state }) => state !== 'done').slice(0, Math.max(1, memory.most()));
    if (open.length === 0) return talks.map((talk) => completionOf(talk, options));
    try {
      await talkOn(model, adapter, open, { ...options, answers, onStep });
    } catch (error) {
      memory.failed(error);
      // All that was said is read again, by fewer at a time.
      for (const talk of talks) talk.unread = [...talk.ids];
    }
  }
}

/** Continues completions together until all of them are done. */
async function talkOn(
  model: Model,
  adapter: Adapter | null,
  talks: readonly Talk[],
  options: TurnsOptions & { readonly answers: ReturnType<typeof openAnswers>; onStep(active: number): void },
): Promise<void> {
  const { turns, maxNewTokens: capacity, answers, onStep } = options;
  const prompts = new Map(talks.map(({ prompt, promptIds }) => [prompt, promptIds]));
  const used = [...prompts.keys()];
  const places = talks.map(({ prompt }) => used.indexOf(prompt));
  const inState = (state: Talk['state']): number[] => [...talks.keys()].filter((row) => talks[row]?.state === state);

  /** Chooses a token of each, and frees the logits. */
  function choose(some: readonly Talk[], logits: tf.Tensor2D): void {
    try {
      chooseNext(logits, some, options).forEach((id, i) => {
        const talk = some[i] as Talk;
        say(talk, id, options, turns);
        options.onRow?.(talk.completion, id);
      });
    } finally {
      logits.dispose();
    }
    answers.ask(some.filter(({ end }) => end !== null));
  }

  const prefill = readPrompts(model, adapter, [...prompts.values()], () => options.onToken?.(0, talks.length));
  checkLogits(prefill, used);
  const { kept, logits: first } = prefill;
  const after = places.map((place) => prefill.places[place] ?? NOWHERE);
  const isDone = (row: number): boolean => talks[row]?.state === 'done';
  const rows = openOrFree(prefill, () =>
    openTurnRows(model, adapter, kept, after, { capacity, alone: turns.later, isDone }),
  );
  try {
    const fresh = inState('ready').filter((row) => talks[row]?.ids.length === 0);
    const ofFresh = fresh.map((row) => places[row] ?? 0);
    if (fresh.length > 0)
      choose(
        fresh.map((row) => talks[row] as Talk),
        tf.tidy(() => gatherRows(first, tf.tensor1d(ofFresh, 'int32'))),
      );
    for (;;) {
      const ready = inState('ready').map((row) => ({ row, talk: talks[row] as Talk }));
      if (ready.length > 0) {
        const { counts, logits } = rows.read(ready.map(({ row, talk }) => ({ row, ids: talk.unread })));
        ready.forEach(({ talk }, i) => void talk.unread.splice(0, counts[i]));
        const whole = ready.map(({ talk }) => talk).filter(({ unread }) => unread.length === 0);
        if (logits !== null) choose(whole, logits);
        pulse();
        onStep(inState('ready').length);
      }
      const isIdle = inState('ready').length === 0;
      const isWaiting = inState('waiting').length > 0;
      if (isIdle && !isWaiting) return;
      if (isWaiting) await answers.arrived(isIdle);
    }
  } finally {
    tf.dispose(first);
    rows.dispose();
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
