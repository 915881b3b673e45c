/** One generation at its three stages: sampled and scored, ready for the loss, saved in a checkpoint. */
import type { Played } from '../../samples/completion.ts';
import type { Advantages } from '../advantages/advantages.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { TokenRecord } from './prompts.ts';

/** What R completions were given. */
export interface Scores {
  /** [R] why a reward failed; null: it didn't. */
  readonly failures: readonly (string | null)[];
  /** [functions][R] */
  readonly rewards: readonly (readonly number[])[];
}

/** Scored completions of P prompts, G of each, R = P*G rows; row i belongs to group floor(i / G). */
export interface Rollouts extends Scores {
  /** [P] */
  readonly prompts: readonly TokenRecord[];
  /** [R] */
  readonly completions: readonly Played[];
  /** [R] */
  readonly texts: readonly string[];
}

/** Rollouts with their advantages. */
export interface Generation extends Rollouts {
  /** Its number, from 0; with the seed it determines the random numbers. */
  readonly number: number;
  readonly result: Advantages;
  /** What is reported of it. */
  readonly metrics: Metrics;
}

/** A generation with the log-probabilities that its micro-batches need, one array per row. */
export interface ScoredGeneration extends Generation {
  /** [P] indices of the prompts' records. */
  readonly records: readonly number[];
  /** Under the policy that sampled it; null if that is the one being trained. */
  readonly oldLogps: readonly Float32Array[] | null;
  /** Under the reference; null without one. */
  readonly refLogps: readonly Float32Array[] | null;
}

/** The saved form of a generation that later steps still use. */
export interface SavedGeneration {
  readonly number: number;
  /** Indices of the prompts' records; null in older checkpoints, where the number alone determines them. */
  readonly records: readonly number[] | null;
  readonly completions: readonly Played[];
  /** Null in older checkpoints: they are scored again. */
  readonly scores: Scores | null;
  readonly oldLogps: readonly (readonly number[])[] | null;
  /** Where the reference may have changed since; null: they are recomputed. */
  readonly refLogps: readonly (readonly number[])[] | null;
}
