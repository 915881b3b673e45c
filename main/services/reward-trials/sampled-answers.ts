/** Completions that a model has just sampled to try a reward on; kept in memory, the newest few. */
import { inputError } from '../../errors.ts';
import type { Completed } from '../../samples/completion.ts';

/** A completion with its record as its file has it: the task that reads it is still being written. */
export interface SampledAnswer extends Completed {
  readonly fields: unknown;
  /** Of the file. */
  readonly line: number;
}

/** Where completions come from. */
export interface Sampling {
  /** The task's name. */
  readonly task: string;
  /** The model's name. */
  readonly model: string;
}

/** Completions that are kept, as pages list them. */
export interface KeptSample {
  readonly id: number;
  readonly model: string;
  readonly completions: number;
}

export interface SampledAnswers {
  /** Keeps completions; returns their id. */
  keep(of: Sampling, answers: readonly SampledAnswer[]): number;
  /** What is kept of a task, the newest first. */
  list(task: string): KeptSample[];
  /** The completions, or an error once newer ones have taken their place. */
  get(id: number): readonly SampledAnswer[];
}

const KEPT = 4;

/** Opens the memory. */
export function openSampledAnswers(): SampledAnswers {
  const kept = new Map<number, Sampling & { readonly answers: readonly SampledAnswer[] }>();
  let lastId = 0;
  return {
    keep: (of, answers) => {
      kept.set(++lastId, { ...of, answers });
      for (const old of [...kept.keys()].slice(0, -KEPT)) kept.delete(old);
      return lastId;
    },
    list: (task) =>
      [...kept]
        .filter(([, sample]) => sample.task === task)
        .map(([id, { model, answers }]) => ({ id, model, completions: answers.length }))
        .reverse(),
    get: (id) => {
      const answers = kept.get(id)?.answers;
      if (answers !== undefined) return answers;
      throw inputError('SAMPLED_GONE', 'These sampled completions are no longer kept', 'Sample again.');
    },
  };
}
