/** One generation at its three stages: sampled and scored, ready for the loss, saved in a checkpoint. */
import type { Completion } from '../../model/generate.ts';
import type { Metrics } from '../events.ts';
import type { Advantages } from '../losses/advantages.ts';
import type { TokenRecord } from './prompts.ts';

/** P prompts, G completions per prompt, R = P*G rows; row i belongs to group floor(i / G). */
export interface Generation {
  /** Its number, from 0; with the seed it determines the random numbers. */
  readonly number: number;
  /** [P] */
  readonly prompts: readonly TokenRecord[];
  /** [R] */
  readonly completions: readonly Completion[];
  /** [R] */
  readonly texts: readonly string[];
  /** [functions][R] */
  readonly rewards: readonly (readonly number[])[];
  readonly result: Advantages;
  /** Metrics of the method itself. */
  readonly metrics: Metrics;
}

/** A generation with the log-probabilities that its micro-batches need, one array per row. */
export interface ScoredGeneration extends Generation {
  /** Under the policy that sampled it; null if that is the one being trained. */
  readonly oldLogps: readonly Float32Array[] | null;
  /** Under the reference; null without one. */
  readonly refLogps: readonly Float32Array[] | null;
}

/** The saved form of a generation that later steps still use. */
export interface SavedGeneration {
  readonly number: number;
  readonly completions: readonly { readonly ids: number[]; readonly terminated: boolean }[];
  readonly oldLogps: readonly (readonly number[])[] | null;
}
