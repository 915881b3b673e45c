/** When memory runs out all the same: the same work again with half of the memory planned for it. */
import { BraidError } from '../errors.ts';

/** Below this, smaller parts no longer help. */
const LEAST_MB = 16;

/** What is planned with for each owner (a model) after memory ran out once. */
const lowered = new WeakMap<object, number>();

/** Runs `work` with so many MiB, or with what was left of them the last time; halves them while memory runs out. */
export function withinMemory<T>(owner: object, megabytes: number, work: (megabytes: number) => T): T {
  let planned = Math.min(megabytes, lowered.get(owner) ?? megabytes);
  for (;;) {
    try {
      return work(planned);
    } catch (error) {
      if (!isOutOfMemory(error) || planned / 2 < LEAST_MB) throw error;
      planned /= 2;
      lowered.set(owner, planned);
    }
  }
}

/** Whether a backend said that an allocation failed: ours in its own words, TensorFlow in its status 8. */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof BraidError) return error.code === 'OUT_OF_MEMORY';
  return error instanceof Error && /OOM when allocating|Invalid TF_Status: 8\b/.test(error.message);
}
