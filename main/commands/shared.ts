/** What every command shares: the common options and its output. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { locateWorkspace, type Workspace } from '../services/workspace/workspace.ts';
import { visible, visibleJson } from '../text/visible.ts';
import { BACKEND_SETTINGS, type BackendSetting } from '../trainer/config/backend-names.ts';

/** What asks a command to end: Ctrl-C, a polite kill, a terminal that is closed. */
export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The common options of a command, read, and its two voices. */
export interface CommandContext {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly seed: number;
  readonly backend: string;
  readonly threads: number;
  /** The workspace; it may not exist yet. */
  readonly workspace: Workspace;
  /** With --json, prints the one JSON object, last. */
  out(value: object): void;
  /** Prints a line of the result on stdout, unless --json replaces it. */
  print(line: string): void;
  /** The same without escapes: for colours of our own, and for files that another program reads. */
  printRaw(text: string): void;
  /** Reports progress on stderr, unless --quiet. */
  say(line: string): void;
}

/** Adds the common options to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--workspace <dir>', 'workspace folder (default: BRAID_WORKSPACE, or the user data folder)')
    .option('--seed <n>', 'random seed for everything', '42')
    .option('--backend <name>', 'auto, native, webgpu or wasm', 'auto')
    .option('--threads <n>', 'processor threads; 0: all cores', '0')
    .option('--json', 'print one JSON object on stdout, last', false)
    .option('--quiet', 'no progress on stderr', false);
}

/** Reads the common options of the running command. */
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
    out: (value) => void (json && process.stdout.write(`${visibleJson(value)}\n`)),
    print: (line) => void (json || process.stdout.write(`${visible(line)}\n`)),
    printRaw: (text) => void (json || process.stdout.write(`${text}\n`)),
    say: (line) => void (quiet || process.stderr.write(`${visible(line)}\n`)),
  };
}

/** The whole number given for an option. */
export function wholeNumber(option: string, value: string, least = 1): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isSafeInteger(number) && number >= least) return number;
  const range =
    Number.isInteger(number) && number > least ? `of at most ${Number.MAX_SAFE_INTEGER}` : `of at least ${least}`;
  throw inputError('BAD_OPTION', `Expected ${option} to be a whole number ${range}, got "${value}"`);
}

/** The port given for an option. */
export function portNumber(option: string, value: string, least = 1): number {
  const port = wholeNumber(option, value, least);
  if (port <= 65_535) return port;
  throw inputError('BAD_OPTION', `Expected ${option} to be a port of at most 65535, got "${value}"`);
}

/** The folder given for --relevance-model; null: relevance is judged by words. */
export function encoderFolder(folder: string | undefined): string | null {
  return folder === undefined ? null : resolve(existingFolders('--relevance-model', [folder])[0] ?? folder);
}

/** What --stop-strings is, for every command that has it. */
export const STOP_STRINGS = "texts that end a completion; '': none (default: those that a checkpoint was trained with)";

/** The texts given for --stop-strings; null: nothing was given. */
export function stopStrings(given: readonly string[] | undefined): readonly string[] | null {
  return given?.filter((text) => text !== '') ?? null;
}

/** The folders given for an option. */
export function existingFolders(option: string, folders: readonly string[]): readonly string[] {
  const missing = folders.find((folder) => !existsSync(folder));
  if (missing === undefined) return folders;
  throw inputError('BAD_OPTION', `Expected ${option} to name folders that exist, got "${missing}"`);
}

/** The backend given by --backend. */
export function backendChoice(value: string): BackendSetting {
  const known = BACKEND_SETTINGS.find((name) => name === value);
  if (known !== undefined) return known;
  throw inputError('BAD_OPTION', `Expected --backend to be auto, native, webgpu or wasm, got "${value}"`);
}
