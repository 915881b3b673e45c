/** The next token of one row, with what the model thinks of it and of its alternatives. */
import { argmax, draw, processors, type SamplingOptions } from './sampler.ts';

/** A token and its log-probability, before temperature and filters. */
export interface ScoredToken {
  readonly id: number;
  readonly logprob: number;
}

export interface ChosenToken extends ScoredToken {
  /** The most likely tokens, from the likeliest on. */
  readonly top: readonly ScoredToken[];
}

/** How a row is sampled. */
export interface RowSampling extends SamplingOptions {
  /** How many alternatives are reported; null: no log-probabilities, which are NaN then. */
  readonly top: number | null;
  /** What is added to the logits of these ids. */
  readonly bias?: ReadonlyMap<number, number>;
}

/** Chooses by a uniform number `u`; `seen`: the ids of prompt and completion so far. */
export function chooseToken(
  logits: Float32Array,
  sampling: RowSampling,
  seen: () => readonly number[],
  u: number,
): ChosenToken {
  const { bias, temperature, top } = sampling;
  const steps = processors(sampling);
  const row = steps.length > 0 || bias !== undefined ? logits.slice() : logits;
  for (const [id, more] of bias ?? []) if (id < row.length) row[id] = (row[id] as number) + more;
  const all = steps.length === 0 ? [] : seen();
  for (const step of steps) step(row, all);
  const id = temperature === 0 ? argmax(row) : draw(row, u);
  return top === null ? { id, logprob: Number.NaN, top: [] } : scoreToken(logits, id, top);
}

/** The log-probability of a token that is given, and its alternatives. */
export function scoreToken(logits: Float32Array, id: number, top: number): ChosenToken {
  let most = -Infinity;
  for (const logit of logits) if (logit > most) most = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - most);
  const whole = most + Math.log(sum);
  const scored = (one: number): ScoredToken => ({ id: one, logprob: (logits[one] as number) - whole });
  return { ...scored(id), top: largest(logits, top).map(scored) };
}

/** Ids of the `count` largest logits, the first of equal ones first. */
function largest(logits: Float32Array, count: number): number[] {
  const found: number[] = [];
  if (count === 0) return found;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] as number;
    if (found.length === count && !(logit > (logits[found[count - 1] as number] as number))) continue;
    let at = found.length;
    while (at > 0 && logit > (logits[found[at - 1] as number] as number)) at--;
    found.splice(at, 0, id);
    found.length = Math.min(found.length, count);
  }
  return found;
}
