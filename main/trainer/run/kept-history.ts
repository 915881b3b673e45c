/** The logged steps that a run keeps in memory and in each of its checkpoints; the database and metrics.jsonl have all. */

export interface HistoryLimits {
  /** Entries at most: with more, checkpoints have hundreds of megabytes, and at some length JSON has no text for them. */
  readonly most: number;
  /** First steps that all stay: what rules compare the newest with. */
  readonly first: number;
}

const LIMITS: HistoryLimits = { most: 20_000, first: 1000 };

/**
 * Thins a history that has become too long: its newest half stays, of the steps before it the first ones and at most half
 * as many others, the newer the denser. It depends on nothing else, so that a resumed run has the same history as one that
 * was never interrupted.
 */
export function shortenHistory<T extends { readonly step: number }>(
  history: T[],
  { most, first }: HistoryLimits = LIMITS,
): void {
  if (history.length < most) return;
  const newest = history.splice(history.length - Math.floor(most / 2));
  let older = [...history];
  for (let stride = 2; older.length > first + most / 4; stride *= 2)
    older = older.filter(({ step }) => step <= first || step % stride === 0);
  history.length = 0;
  for (const part of [older, newest]) for (const entry of part) history.push(entry);
}
