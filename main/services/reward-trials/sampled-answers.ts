/** Completions that a model has just sampled to try a reward on; kept in memory, the newest few. */
import { inputError } from '../../errors.ts';
import type { Completed } from '../../samples/completion.ts';

/** A completion with its record as its file has it: the task that reads it is still being written. */
export interface SampledAnswer extends Completed {
  readonly fields: unknown;
  /** Of the file. */
  readonly line: number;
}

export interface SampledAnswers {
  /** Keeps completions; returns their id. */
  keep(answers: readonly SampledAnswer[]): number;
  /** The completions, or an error once newer ones have taken their place. */
  get(id: number): readonly SampledAnswer[];
}

const KEPT = 4;

/** Opens the memory. */
export function openSampledAnswers(): SampledAnswers {
  const kept = new Map<number, readonly SampledAnswer[]>();
  let lastId = 0;
  return {
    keep: (answers) => {
      kept.set(++lastId, answers);
      for (const old of [...kept.keys()].slice(0, -KEPT)) kept.delete(old);
      return lastId;
    },
    get: (id) => {
      const answers = kept.get(id);
      if (answers !== undefined) return answers;
      throw inputError('SAMPLED_GONE', 'These sampled completions are no longer kept', 'Sample again.');
    },
  };
}
