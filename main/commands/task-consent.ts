/** `braid task allow` and `braid task key`: what a task reaches outside Braid, and the keys of its addresses. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { allowReaches, forgetReaches, openConsentFile, reachesOf } from '../services/tasks/consent.ts';
import { findTask } from '../services/tasks/find-task.ts';
import { setRewardKey } from '../services/tasks/reward-keys.ts';
import { serverSource } from '../services/tasks/server-choice.ts';
import { openSecrets } from '../services/workspace/secrets.ts';
import type { FolderSource } from '../tasks/folder/source.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, withCommonOptions } from './shared.ts';

interface AllowOptions {
  readonly start?: string;
  readonly allowPlainHttp?: boolean;
  readonly forget?: boolean;
}

/** Adds both to `task`. */
export function registerTaskConsent(task: Command): void {
  withCommonOptions(task.command('allow <dir> [hashes...]'))
    .description('what a task runs and where it sends completions; with hashes, agree to that')
    .option('--start <command>', 'with the address of an OpenEnv server that has no task yet: what starts it')
    .option('--allow-plain-http', 'the addresses may be plain http on another machine')
    .option('--forget', 'take back what was agreed to')
    .action((dir: string, hashes: readonly string[], options: AllowOptions, command: Command) =>
      allow(dir, hashes, options, commandContext(command)),
    );
  withCommonOptions(task.command('key <address>'))
    .description('keep the key of a judge or endpoint, read from standard input; an empty line forgets it')
    .action((address: string, _: object, command: Command) => keepKey(address, commandContext(command)));
}

function allow(dir: string, hashes: readonly string[], options: AllowOptions, context: CommandContext): void {
  const source = isAddress(dir)
    ? serverSource({ address: dir, start: options.start ?? '' })
    : folderSource(dir, context);
  const consents = openConsentFile();
  if (options.forget === true) forgetReaches(source, consents);
  if (hashes.length > 0) allowReaches(source, hashes, consents, { plain: options.allowPlainHttp === true });
  const reaches = reachesOf(source, consents);
  if (reaches.length === 0) context.print(`${source.name} reaches nothing outside Braid`);
  for (const { component, text, hash, isAllowed } of reaches)
    context.print(`[${isAllowed ? 'x' : ' '}] ${component} ${text}\n    ${hash}`);
  context.out({ task: source.name, reaches });
}

/** A task is a name or a folder. */
function isAddress(dir: string): boolean {
  return /^(ws|http)s?:\/\//i.test(dir);
}

async function keepKey(address: string, context: CommandContext): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(Buffer.from(piece as Uint8Array));
  const key = Buffer.concat(pieces).toString('utf8').trim();
  const origin = setRewardKey(openSecrets(), address, key === '' ? null : key);
  context.print(`The key for ${origin} is ${key === '' ? 'forgotten' : 'kept'}`);
  context.out({ address: origin, kept: key !== '' });
}

/** A folder's task; the native ones have no text to try. */
export function folderSource(task: string, context: CommandContext): FolderSource {
  const source = findTask(task, { workspace: context.workspace.root, paths: hostPaths() });
  if (typeof source !== 'string') return source;
  throw inputError(
    'NATIVE_TASK',
    `"${source}" is one of Braid's own tasks, which have no files`,
    'Give a task folder.',
  );
}
