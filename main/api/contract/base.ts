/** What every procedure shares: the two ways in which it can fail. */
import { oc } from '@orpc/contract';
import { z } from 'zod';

const failure = z.object({
  /** Stable, for code: `RUN_BUSY`. */
  code: z.string(),
  /** What to do about it, one sentence. */
  remedy: z.string().nullable(),
});

/** REFUSED: the request can't be carried out. FAILED: it failed while being carried out. */
export const procedure = oc.errors({
  REFUSED: { status: 422, data: failure },
  FAILED: { status: 500, data: failure },
});

/** An id of a row. */
export const id = z.int().min(1);
/** A seed, of 32 bits. */
export const seed = z
  .int()
  .min(0)
  .max(2 ** 32 - 1);
/** A line of user input. */
export const line = z.string().trim().min(1).max(500);
/** A path, in the workspace or chosen in a dialog. */
export const path = z.string().min(1).max(4096);
