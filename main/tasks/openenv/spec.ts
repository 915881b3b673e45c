/** What task.yaml says of an environment that an OpenEnv server plays: `environment: { openenv: ws://…, action: … }`. */
import { z } from 'zod';
import { isLoopback, isPlain } from '../../io/address.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { checkedAddress, isInside, type SpecFault } from '../external/spec.ts';
import { isTake, placesIn, takeNames } from './form.ts';

const text = z.string().min(1);

/** Beside `max_turns` and `max_turn_tokens`. */
export const openEnvShape = {
  /** ws, wss, http or https; {port} is a free one where Braid starts the server. */
  openenv: text.optional(),
  /** Starts the server; absent: it runs already. */
  command: z.array(z.string()).min(1).optional(),
  files: z.array(text).max(32).optional(),
  /** What each episode is reset with; by default the record's seed, if it has one. */
  reset: z.record(z.string(), z.unknown()).optional(),
  /** How what the model writes becomes an action. */
  action: z.union([text, z.record(z.string(), z.unknown())]).optional(),
  /** How an observation becomes a message; by default all of it as JSON. */
  message: text.optional(),
  /** The record's field that has the message of the reset, as the prompt shows it. */
  start: text.optional(),
  /** Whether the model reads the message of its own reset at the end of the prompt. */
  opens: z.boolean().optional(),
  /** For one answer of the server. */
  timeout_s: z.number().positive().max(3600).optional(),
  /** For the server's start. */
  start_timeout_s: z.number().positive().max(3600).optional(),
  allow_plain_http: z.boolean().optional(),
};

export type GivenOpenEnv = Readonly<z.infer<z.ZodObject<typeof openEnvShape>>>;

/** An environment's server as task.yaml declares it. */
export interface OpenEnvSpec {
  readonly kind: 'openenv';
  readonly openenv: string;
  readonly command: readonly string[] | null;
  readonly files: readonly string[];
  readonly reset: Readonly<Record<string, unknown>>;
  readonly action: string | Readonly<Record<string, unknown>>;
  readonly message: string;
  readonly start: string | null;
  readonly opens: boolean;
  readonly timeout_s: number;
  readonly start_timeout_s: number;
  readonly allow_plain_http: boolean;
}

/** The name that it has among what a task reaches outside Braid. */
export const ENVIRONMENT = 'environment';
/** In an address, and among the arguments of a command. */
export const PORT = '{port}';

/** The address of its pages (/schema, /metadata), without a slash at the end; `port`: for {port}. */
export function pagesOf(openenv: string, port = 1): string {
  const web = openenv.replace(PORT, String(port)).replace(/^ws(s?):/i, 'http$1:');
  return web.replace(/\/+$/, '').replace(/\/ws$/, '');
}

/** The address of its conversations. */
export function socketOf(openenv: string, port?: number): string {
  return `${pagesOf(openenv, port).replace(/^http/i, 'ws')}/ws`;
}

/** Checks it; null: task.yaml names no server. `fields`: the record's. */
export function checkOpenEnv(
  { openenv, ...given }: GivenOpenEnv,
  fields: Readonly<Record<string, string>>,
): { readonly spec: OpenEnvSpec | null; readonly faults: readonly SpecFault[] } {
  if (openenv === undefined) {
    const [extra] = Object.keys(given).filter((name) => name in openEnvShape);
    const reason = `"${extra}" is of an OpenEnv server, and "openenv" names none, for example \`openenv: ws://127.0.0.1:8000\``;
    return { spec: null, faults: extra === undefined ? [] : [{ path: [extra], reason }] };
  }
  if (given.action === undefined) return { spec: null, faults: [{ path: ['openenv'], reason: NO_ACTION }] };
  const spec: OpenEnvSpec = {
    kind: 'openenv',
    openenv,
    command: given.command ?? null,
    files: given.files ?? [],
    reset: given.reset ?? (Object.hasOwn(fields, 'seed') ? { seed: '{seed}' } : {}),
    action: given.action,
    message: given.message ?? '{observation}',
    start: given.start ?? null,
    opens: given.opens ?? false,
    timeout_s: given.timeout_s ?? 60,
    start_timeout_s: given.start_timeout_s ?? 120,
    allow_plain_http: given.allow_plain_http ?? false,
  };
  return { spec, faults: [...addressFaults(spec), ...commandFaults(spec), ...formFaults(spec, fields)] };
}

const NO_ACTION =
  'expected "action" beside "openenv": how an answer becomes an action, for example `action: { guess: "{completion:last-number}" }`';

function addressFaults({ openenv, allow_plain_http: plain, command }: OpenEnvSpec): SpecFault[] {
  const fault = (reason: string): SpecFault[] => [{ path: ['openenv'], reason: `"openenv": ${reason}` }];
  try {
    const url = checkedAddress(pagesOf(openenv), plain);
    if (command !== null && !isLoopback(url.hostname))
      return fault('expected an address of this machine, as "command" starts the server here');
    if (plain && !isPlain(url)) return fault('"allow_plain_http" is for plain http on another machine only');
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error));
  }
  if (openenv.includes(PORT) && command === null)
    return fault('{port} is a free port for a server that "command" starts');
  return [];
}

function commandFaults({ command, files }: OpenEnvSpec): SpecFault[] {
  if (command === null)
    return files.length === 0 ? [] : [{ path: ['files'], reason: '"files" are for a "command", and there is none' }];
  if (command[0] === '') return [{ path: ['command'], reason: '"command": expected a program and its arguments' }];
  return files
    .filter((file) => !isInside(file))
    .map((file) => ({ path: ['files'], reason: `"files": expected a file of the task's folder, got "${file}"` }));
}

function formFaults(spec: OpenEnvSpec, fields: Readonly<Record<string, string>>): SpecFault[] {
  const own = [...Object.keys(fields), 'id'];
  const faults: SpecFault[] = [];
  const check = (key: 'reset' | 'action', known: readonly string[]): void => {
    for (const { name, takes } of placesIn(spec[key])) {
      const [field = ''] = name.split('.');
      if (!known.includes(field))
        faults.push({
          path: [key],
          reason: `"${key}" names {${field}}, which is not in "fields"${didYouMean(nearestName(field, known))}`,
        });
      const strange = takes.find((take) => !isTake(take));
      if (strange !== undefined)
        faults.push({
          path: [key],
          reason: `"${key}": expected one of ${takeNames.join(', ')} or <tag> after {${name}:, got "${strange}"${didYouMean(nearestName(strange, takeNames))}`,
        });
    }
  };
  check('reset', own);
  check('action', [...own, 'completion']);
  if (!placesIn(spec.action).some(({ name }) => name === 'completion'))
    faults.push({ path: ['action'], reason: 'expected {completion} in "action": what the model writes' });
  if (typeof spec.action === 'string' && !/^\{completion(:[^{}]+)*:json\}$/.test(spec.action))
    faults.push({ path: ['action'], reason: 'expected "action" to be an object, or \'{completion:json}\' alone' });
  if (spec.start !== null && spec.opens)
    faults.push({ path: ['opens'], reason: 'expected "start" or "opens": both show the model how an episode begins' });
  if (spec.start !== null && !Object.hasOwn(fields, spec.start))
    faults.push({
      path: ['start'],
      reason: `"start" names ${spec.start}, which is not in "fields"${didYouMean(nearestName(spec.start, own))}`,
    });
  return faults;
}
