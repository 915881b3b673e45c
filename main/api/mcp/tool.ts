/** A tool of `braid mcp`: what an agent may call, with its input checked once. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { checkPlain } from '../plain-input.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Of the input, for the agent. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Whether it only reads. */
  readonly readOnly: boolean;
  /** Throws an input error where the input doesn't fit. */
  call(input: unknown): unknown;
}

interface ToolOptions<I extends z.ZodObject> {
  readonly description: string;
  readonly input: I;
  readonly readOnly?: boolean;
}

/** Defines a tool. */
export function tool<I extends z.ZodObject>(
  name: string,
  { description, input, readOnly = true }: ToolOptions<I>,
  work: (input: z.output<I>) => unknown,
): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return {
    name,
    description,
    schema,
    readOnly,
    call: (given) => {
      checkPlain(given);
      const parsed = input.safeParse(given);
      if (parsed.success) return work(parsed.data);
      const faults = parsed.error.issues.slice(0, 5).map(({ path, message }) => {
        return path.length === 0 ? message : `"${path.join('.')}": ${message}`;
      });
      throw inputError('BAD_REQUEST', faults.join('; '), `The schema of ${name} says what it takes.`);
    },
  };
}
