/**
 * Continuous batching: rows of different requests are decoded together, each with its own settings, and leave as they
 * end. Requests wait for a batch that others may join, or open another one.
 */
import { inputError } from '../../../errors.ts';
import { MOST_ROWS, openRowsInFlight, type RowsInFlight } from '../../../model/rows-in-flight.ts';
import { disposeKept } from '../../../model/sequences.ts';
import { openStops } from '../../../model/stop-strings.ts';
import { openSpellings } from '../../../model/token-bytes.ts';
import type { Tokenizer } from '../../../model/tokenizer.ts';
import { describeFailure } from '../../memory/failure.ts';
import type { Policy } from '../../policy/policy.ts';
import type { AnswerEvent, AnswerRequest } from '../../protocol/answers.ts';
import { type Completion, openCompletion } from './completion.ts';
import { readPrompt } from './read-prompt.ts';

export interface Scheduler {
  /** Whether there is nothing to do. */
  readonly isIdle: boolean;
  /** Adds a request; throws if it is longer than the context. */
  add(id: number, request: AnswerRequest, prompt: readonly number[]): void;
  /** Frees a request's rows; nothing is heard of it any more. */
  cancel(id: number): void;
  /** Reads the prompts of those that can join, and decodes one token of every row. */
  turn(): void;
  dispose(): void;
}

interface KeptModel {
  readonly tokenizer: Tokenizer;
  readonly eosTokenIds: readonly number[];
  /** Tokens of a prompt and its completion. */
  readonly context: number;
}

interface Outside {
  /** How many tokens memory has room for. */
  readonly tokens: number;
  emit(id: number, event: AnswerEvent): void;
}

interface Asked {
  readonly id: number;
  readonly request: AnswerRequest;
  readonly prompt: readonly number[];
  /** Of each completion. */
  readonly limit: number;
  /** The next completion that isn't decoded yet. */
  begun: number;
  ended: number;
}

interface Row {
  readonly asked: Asked;
  readonly completion: Completion;
  /** Read next. */
  next: number;
  /** Read so far, its prompt among them. */
  length: number;
}

interface Batch {
  readonly flight: RowsInFlight;
  rows: Row[];
}

/** More would read the weights too often. */
const MOST_BATCHES = 4;
/** Copies of a token's keys and values: as they were computed, as a kernel reads them, and while they are put together. */
const COPIES = 3;

export function openScheduler(policy: Policy, model: KeptModel, { tokens: room, emit }: Outside): Scheduler {
  const { tokenizer, eosTokenIds, context } = model;
  const spelling = openSpellings(tokenizer);
  const isAt = openStops(tokenizer);
  const trained = isAt && { strings: tokenizer.stopStrings, isAt };
  let waiting: Asked[] = [];
  let batches: Batch[] = [];

  /** The batch that a request joins: one that is open, or a new one; null: it waits. */
  function batchFor({ prompt }: Asked): Batch | null {
    const used = batches.flatMap(({ rows }) => rows).reduce((sum, { length }) => sum + length, 0);
    if (batches.length > 0 && (used + prompt.length) * COPIES > room) return null;
    const open = batches.find(({ flight, rows }) => flight.isOpen && rows.length < MOST_ROWS);
    if (open !== undefined) return open;
    if (batches.length === MOST_BATCHES) return null;
    const batch: Batch = { flight: openRowsInFlight(policy.model, policy.adapter), rows: [] };
    batches.push(batch);
    return batch;
  }

  /** Reads the prompt, for as many completions as the batch has room for. */
  function join(asked: Asked, batch: Batch): void {
    const { id, request, prompt, limit } = asked;
    const { kept, logits, tokens } = readPrompt(policy, prompt, request, spelling);
    if (asked.begun === 0) {
      // As it was given: decoding leaves out control tokens.
      const text = request.prompt.kind === 'text' ? request.prompt.text : tokenizer.decode(prompt);
      emit(id, {
        kind: 'begun',
        promptTokens: prompt.length,
        ...(tokens !== null && { prompt: { text, tokens } }),
      });
    }
    const rows: Row[] = [];
    while (asked.begun < request.n && batch.rows.length + rows.length < MOST_ROWS) {
      const choice = asked.begun++;
      const completion = openCompletion(
        { tokenizer, spelling, eosTokenIds, trained },
        request,
        prompt,
        choice,
        limit,
        (event) => emit(id, event),
      );
      const next = limit === 0 ? completion.cut() : completion.next(logits);
      if (next === null) end(asked);
      else rows.push({ asked, completion, next, length: prompt.length });
    }
    if (rows.length === 0) {
      disposeKept(kept);
      return;
    }
    batch.flight.join([{ kept, count: rows.length }]);
    batch.rows.push(...rows);
  }

  function end(asked: Asked): void {
    asked.ended++;
    if (asked.ended === asked.request.n) emit(asked.id, { kind: 'done' });
  }

  function decode(batch: Batch): void {
    const { flight, rows } = batch;
    const logits = flight.step(rows.map(({ next }) => next));
    const values = logits.dataSync<'float32'>();
    const [, vocabulary] = logits.shape;
    logits.dispose();
    const staying = rows.flatMap((row, i) => {
      row.length++;
      const next = row.completion.next(values.subarray(i * vocabulary, (i + 1) * vocabulary));
      if (next === null) {
        end(row.asked);
        return [];
      }
      row.next = next;
      return [i];
    });
    keep(batch, staying);
  }

  function keep(batch: Batch, staying: readonly number[]): void {
    if (staying.length === batch.rows.length) return;
    batch.flight.keep(staying);
    batch.rows = staying.flatMap((i) => batch.rows.slice(i, i + 1));
    if (batch.rows.length === 0) close(batch);
  }

  function close(batch: Batch): void {
    batch.flight.dispose();
    batches = batches.filter((one) => one !== batch);
  }

  /** Nothing of a batch can be trusted after a failure. */
  function fail(batch: Batch, asked: readonly Asked[], error: unknown): void {
    const all = new Set([...asked, ...batch.rows.map((row) => row.asked)]);
    close(batch);
    for (const { id } of all) {
      drop(id);
      emit(id, { kind: 'failed', ...describeFailure(error) });
    }
  }

  function drop(id: number): void {
    waiting = waiting.filter((asked) => asked.id !== id);
    for (const batch of [...batches])
      keep(
        batch,
        batch.rows.flatMap((row, i) => (row.asked.id === id ? [] : [i])),
      );
  }

  return {
    get isIdle() {
      return waiting.length === 0 && batches.length === 0;
    },
    add: (id, request, prompt) => {
      const { maxTokens } = request;
      if (prompt.length >= context)
        throw inputError(
          'CONTEXT_TOO_SHORT',
          `The model's context is ${context} tokens; the prompt has ${prompt.length}`,
          'Shorten the prompt; in a chat, start a new conversation.',
        );
      if (maxTokens !== null && prompt.length + maxTokens > context)
        throw inputError(
          'CONTEXT_TOO_SHORT',
          `The model's context is ${context} tokens; the prompt has ${prompt.length} and ${maxTokens} new ones were asked for, ${prompt.length + maxTokens} in all`,
          'Shorten the prompt, or ask for fewer tokens.',
        );
      const limit = maxTokens ?? context - prompt.length;
      waiting.push({ id, request, prompt, limit, begun: 0, ended: 0 });
    },
    cancel: drop,
    turn: () => {
      for (let asked = waiting[0]; asked !== undefined; asked = waiting[0]) {
        const batch = batchFor(asked);
        if (batch === null) break;
        try {
          join(asked, batch);
        } catch (error) {
          fail(batch, [asked], error);
          continue;
        }
        if (asked.begun === asked.request.n) waiting.shift();
        if (batch.rows.length === 0) close(batch);
      }
      for (const batch of [...batches]) {
        try {
          decode(batch);
        } catch (error) {
          fail(batch, [], error);
        }
      }
    },
    dispose: () => {
      for (const batch of [...batches]) close(batch);
    },
  };
}
