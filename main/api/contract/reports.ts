/** Reports: a result as one HTML file for those who don't have Braid. */
import { z } from 'zod';
import { id, procedure } from './base.ts';

const subject = z.discriminatedUnion('of', [
  z.object({ of: z.enum(['run', 'comparison', 'sweep']), id }),
  z.object({ of: z.enum(['replies', 'curriculum']) }),
]);

export const reports = {
  /** The file, with a name for it; `texts`: with prompts, targets and completions. */
  make: procedure
    .input(z.object({ subject, texts: z.boolean().default(true) }))
    .output(z.object({ name: z.string(), html: z.string() })),
};
