/** What every command shares: the common options, and where its words go. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { locateWorkspace, type Workspace } from '../services/workspace.ts';

/** The common options of a command, read, and its two voices. */
export interface CommandContext {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly seed: number;
  readonly backend: string;
  readonly threads: number;
  /** Where the workspace is; it may not exist yet. */
  readonly workspace: Workspace;
  /** Prints the one JSON object, last, when asked to with --json. */
  out(value: object): void;
  /** Prints a line of the result on stdout, unless --json takes its place. */
  print(line: string): void;
  /** Tells of progress on stderr, unless --quiet. */
  say(line: string): void;
}

/** Adds the common options to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--workspace <dir>', 'workspace folder (default: BRAID_WORKSPACE, or the user data folder)')
    .option('--seed <n>', 'decides everything that is drawn at random', '42')
    .option('--backend <name>', 'auto, native or wasm', 'auto')
    .option('--threads <n>', 'processor threads; 0: all cores', '0')
    .option('--json', 'print one JSON object on stdout, last', false)
    .option('--quiet', 'no progress on stderr', false);
}

/** Reads the common options of a command that is running. */
export function commandContext(command: Command): CommandContext {
  const options = command.optsWithGlobals<Readonly<Record<string, string | boolean | undefined>>>();
  const json = options.json === true;
  const quiet = options.quiet === true;
  const given = options.workspace;
  return {
    json,
    quiet,
    seed: wholeNumber('--seed', String(options.seed ?? '42'), 0),
    backend: String(options.backend ?? 'auto'),
    threads: wholeNumber('--threads', String(options.threads ?? '0'), 0),
    workspace: locateWorkspace(typeof given === 'string' ? { workspace: given } : {}),
    out: (value) => void (json && process.stdout.write(`${JSON.stringify(value)}\n`)),
    print: (line) => void (json || process.stdout.write(`${line}\n`)),
    say: (line) => void (quiet || process.stderr.write(`${line}\n`)),
  };
}

/** The whole number that an option was given. */
export function wholeNumber(option: string, value: string, least = 1): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number;
  throw inputError('BAD_OPTION', `Expected ${option} to be a whole number of at least ${least}, got "${value}"`);
}

/** The backend that --backend names. */
export function backendChoice(value: string): 'auto' | 'native' | 'wasm' {
  if (value === 'auto' || value === 'native' || value === 'wasm') return value;
  throw inputError('BAD_OPTION', `Expected --backend to be auto, native or wasm, got "${value}"`);
}
