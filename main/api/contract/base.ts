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

/** A list. Its length is checked before its items, and of wrong items the first is named: there may be millions. */
export function list<T extends z.ZodType>(item: T, { min = 0, max }: { readonly min?: number; readonly max: number }) {
  const items = z
    .array(z.unknown())
    .min(min)
    .max(max)
    .transform((values, context) => {
      const parsed: z.output<T>[] = [];
      for (const [i, value] of values.entries()) {
        const result = item.safeParse(value);
        if (!result.success) {
          for (const issue of result.error.issues.slice(0, 5))
            context.issues.push({ ...issue, input: undefined, path: [i, ...issue.path] } as z.core.$ZodRawIssue);
          return z.NEVER;
        }
        parsed.push(result.data);
      }
      return parsed;
    });
  return items as unknown as z.ZodType<z.output<T>[], z.input<T>[]>;
}

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
