/** A tool of task.yaml that isn't a function of tools.ts: a command that answers calls, or an address that they are sent to. */
import { z } from 'zod';
import { isPlain } from '../../io/address.ts';
import { checkedAddress, isInside, type SpecFault } from './spec.ts';

const text = z.string().min(1);

/** Beside a tool's name, description and parameters. */
export const outsideToolShape = {
  /** A program and its arguments, which reads and writes JSON lines. */
  command: z.array(z.string()).min(1).optional(),
  files: z.array(text).max(32).optional(),
  http: text.optional(),
  /** For one call. */
  timeout_s: z.number().positive().max(3600).optional(),
  allow_plain_http: z.boolean().optional(),
};

type GivenTool = Readonly<z.infer<z.ZodObject<typeof outsideToolShape>>>;

/** What answers the calls of a tool outside the sandbox. */
export interface ToolSpec {
  readonly kind: 'tool';
  /** null: it has an address. */
  readonly command: readonly string[] | null;
  readonly files: readonly string[];
  /** null: it has a command. */
  readonly http: string | null;
  readonly timeout_s: number;
  readonly allow_plain_http: boolean;
}

const TIMEOUT_S = 60;

/** The name of a tool among what a task reaches outside Braid; components of rewards have no spaces. */
export function toolPart(name: string): string {
  return `tool ${name}`;
}

/** null: it is a function of tools.ts. */
export function toolSpec({ command, files = [], http, timeout_s = TIMEOUT_S, ...given }: GivenTool): ToolSpec | null {
  if (command === undefined && http === undefined) return null;
  const { allow_plain_http = false } = given;
  return { kind: 'tool', command: command ?? null, files, http: http ?? null, timeout_s, allow_plain_http };
}

/** What is wrong with it. */
export function toolSpecFaults(given: GivenTool): readonly SpecFault[] {
  const spec = toolSpec(given);
  if (spec === null) {
    const extra = (['files', 'timeout_s', 'allow_plain_http'] as const).find((name) => given[name] !== undefined);
    const reason = `"${extra}" is for a tool with a "command" or an "http" address`;
    return extra === undefined ? [] : [{ path: [extra], reason }];
  }
  const { command, files, http, allow_plain_http: plain } = spec;
  if (command !== null && http !== null)
    return [{ path: ['http'], reason: 'expected either "command" or "http", got both' }];
  if (command?.[0] === '') return [{ path: ['command'], reason: '"command": expected a program and its arguments' }];
  const outside = files.find((file) => !isInside(file));
  if (outside !== undefined)
    return [{ path: ['files'], reason: `"files": expected a file of the task's folder, got "${outside}"` }];
  if (http === null) return [];
  try {
    if (plain && !isPlain(checkedAddress(http, plain)))
      return [{ path: ['allow_plain_http'], reason: '"allow_plain_http" is for plain http on another machine only' }];
    checkedAddress(http, plain);
    return [];
  } catch (error) {
    return [{ path: ['http'], reason: error instanceof Error ? error.message : String(error) }];
  }
}
