/** Out-of-memory fallback: repeats the work with half the memory. */
import { BraidError } from '../../errors.ts';

/** Below this, smaller parts no longer help. */
const MIN_MB = 16;

/** The reduced budget of each owner (a model) after memory ran out. */
const lowered = new WeakMap<object, number>();

/** A budget of memory that shrinks when it proves too large. */
export interface ShrinkingBudget {
  readonly megabytes: number;
  /** Throws the error of a failed attempt again, unless memory ran out and less may do. */
  shrink(error: unknown): void;
}

/** `undivided`: what the work takes in one go, in MiB. A budget far above that limits nothing, so its half would fail too. */
export function openBudget(
  owner: object,
  megabytes: number,
  undivided: () => number = () => Number.POSITIVE_INFINITY,
): ShrinkingBudget {
  let planned = Math.min(megabytes, lowered.get(owner) ?? megabytes);
  return {
    get megabytes() {
      return planned;
    },
    shrink: (error) => {
      if (!isOutOfMemory(error)) throw error;
      if (planned / 2 < MIN_MB) throw asOutOfMemory(error);
      planned = Math.max(MIN_MB, Math.min(planned, undivided()) / 2);
      lowered.set(owner, planned);
    },
  };
}

/** Runs `work` with a budget in MiB, or with its last reduced budget, again with half of it while memory runs out. */
export function withinMemory<T>(
  owner: object,
  megabytes: number,
  work: (megabytes: number) => T,
  undivided?: () => number,
): T {
  const budget = openBudget(owner, megabytes, undivided);
  for (;;) {
    try {
      return work(budget.megabytes);
    } catch (error) {
      budget.shrink(error);
    }
  }
}

/** In words that a user can act on; the library's own stay in the cause. */
export function asOutOfMemory(error: unknown): BraidError {
  if (error instanceof BraidError) return error;
  return new BraidError('OUT_OF_MEMORY', 'Memory ran out, even in the smallest parts', {
    cause: error,
    remedy: 'Use shorter records, a smaller max_completion_length or model, LoRA, or end other programs.',
  });
}

/** A tensor beyond what one binding of a GPU holds may fit in smaller parts too. */
const CODES: readonly string[] = ['OUT_OF_MEMORY', 'GPU_BUFFER_TOO_LARGE'];

/**
 * Whether an error means that an allocation failed: ours by its code, TensorFlow's by its status 8, the addon's and V8's
 * by their words.
 */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof BraidError) return CODES.includes(error.code);
  return (
    error instanceof Error &&
    /OOM when allocating|Invalid TF_Status: 8\b|Array buffer allocation failed|std::bad_alloc/.test(error.message)
  );
}
