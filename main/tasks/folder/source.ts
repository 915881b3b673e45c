/** The texts that make a task: what a run keeps, and what its process is sent. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { inputError } from '../../errors.ts';
import { checkPortableName } from '../../io/foreign-name.ts';
import { type Checked, type FileFault, faultsError, readTextFile } from '../../io/text-file.ts';
import type { CommandFiles } from '../external/access.ts';
import { isInside } from '../external/spec.ts';
import { REWARD_FILE } from '../sandbox/messages.ts';
import { checkDefinition, outsideParts, parseDefinition, TASK_FILE, type TaskDefinition } from './definition.ts';
import { isFunction, TOOLS_FILE } from './tools.ts';

/** A task of a folder. */
export interface FolderSource {
  /** The folder's own name. */
  readonly name: string;
  /** The folder, for messages. */
  readonly folder: string;
  /** task.yaml */
  readonly definition: string;
  /** reward.ts; empty where no component is computed by it */
  readonly reward: string;
  /** Its tools, and what its commands run with, by relative path; absent: nothing. */
  readonly files?: CommandFiles;
}

/** Reads a folder; the files are not checked yet. */
export function readTaskFolder(folder: string): FolderSource {
  const [definition, reward] = [TASK_FILE, REWARD_FILE].map((file) => readTextFile(join(folder, file), MOST_BYTES));
  const faults = [definition, reward].flatMap((content) => (content?.kind === 'bad' ? [content.fault] : []));
  if (
    definition?.kind === 'good' &&
    reward?.kind === 'bad' &&
    needsNoReward(definition.value, join(folder, REWARD_FILE))
  )
    return sourceOf(folder, definition.value, '');
  if (definition?.kind === 'good' && reward?.kind === 'bad' && isMissing(join(folder, REWARD_FILE)))
    // A component that is declared wrongly may be the one that needs no reward.ts.
    parseDefinition(join(folder, TASK_FILE), definition.value);
  if (definition?.kind !== 'good' || reward?.kind !== 'good') throw faultsError('BAD_TASK', faults, remedyFor(folder));
  return sourceOf(folder, definition.value, reward.value);
}

function remedyFor(folder: string): string {
  const usual = 'A task is a folder with task.yaml and reward.ts; New task makes one.';
  if (!namesIn(folder).some((name) => name.endsWith('.py'))) return usual;
  return `${usual} Rewards in Python are components with a \`command\`, as in the template python-functions.`;
}

/** What lies in a folder, or the file itself. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [folder];
  }
}

/** A task of these texts, with the files of its folder that its commands run with. */
export function sourceOf(folder: string, definition: string, reward: string): FolderSource {
  const { files } = commandFiles(folder, definition);
  const source = { name: basename(folder), folder, definition, reward };
  return Object.keys(files).length === 0 ? source : { ...source, files };
}

/** Whether every component is computed elsewhere, and there is no reward.ts. */
function needsNoReward(definition: string, file: string): boolean {
  const checked = checkDefinition(definition);
  return 'definition' in checked && sandboxComponents(checked.definition).length === 0 && isMissing(file);
}

/** The components that reward.ts gives. */
export function sandboxComponents(
  definition: Pick<TaskDefinition, 'rewards' | 'external' | 'environment'>,
): readonly string[] {
  return definition.environment?.server == null ? ownComponents(definition) : [];
}

/** Those and the one of an environment's server. */
export function ownComponents({ rewards, external }: Pick<TaskDefinition, 'rewards' | 'external'>): readonly string[] {
  return Object.keys(rewards).filter((name) => !Object.hasOwn(external, name));
}

/** What gives each component that reward.ts doesn't. */
export function outsideKinds(definition: TaskDefinition): Readonly<Record<string, string>> {
  const [served] = ownComponents(definition);
  return Object.fromEntries(
    Object.entries(outsideParts(definition)).map(([name, { kind }]) => [kind === 'openenv' ? served : name, kind]),
  );
}

/** The files of a folder that it runs with: its tools, those that commands list, and arguments that are files of it. */
function commandFiles(folder: string, text: string) {
  const checked = checkDefinition(text);
  const files: Record<string, string> = {};
  const faults: FileFault[] = [];
  const names = new Set<string>();
  if ('definition' in checked && checked.definition.tools?.some(isFunction)) names.add(TOOLS_FILE);
  for (const spec of 'faults' in checked ? [] : Object.values(outsideParts(checked.definition))) {
    if (!('command' in spec) || spec.command === null) continue;
    const named = spec.command.slice(1).filter((name) => isInside(name) && !isMissing(join(folder, name)));
    for (const name of [...spec.files, ...named]) names.add(name);
  }
  let left = MAX_FILES;
  for (const name of names) {
    const content = left < 0 ? tooMuch(join(folder, name)) : readCommandFile(folder, name);
    if (content.kind === 'good') files[name] = content.value;
    else faults.push(content.fault);
    left -= content.kind === 'good' ? content.value.length : 0;
  }
  return { files, faults };
}

/** Refuses a task whose commands name files that can't be taken along. */
export function checkCommandFiles({ folder, definition }: Pick<FolderSource, 'folder' | 'definition'>): void {
  const { faults } = commandFiles(folder, definition);
  if (faults.length > 0)
    throw faultsError(
      'BAD_TASK',
      faults,
      'A command runs with texts of its task folder; name other files by their absolute path.',
    );
}

function tooMuch(file: string): Checked<never> {
  return {
    kind: 'bad',
    fault: { file, line: null, reason: 'expected at most 8 MiB of files for all commands of a task' },
  };
}

/** A link could bring in any file of the user. */
function readCommandFile(folder: string, name: string): Checked<string> {
  const file = join(folder, name);
  const content = readTextFile(file, MOST_BYTES);
  if (content.kind === 'bad') return content;
  if (realpathSync(file).startsWith(realpathSync(folder) + sep)) return content;
  const reason = "expected a text of at most 1 MiB in the task's folder";
  return { kind: 'bad', fault: { file, line: null, reason } };
}

/** Bytes of each text of a task. */
export const MOST_BYTES = 2 ** 20;
/** Characters of those that its commands run with. */
const MAX_FILES = 8 * 2 ** 20;

function isMissing(file: string): boolean {
  try {
    const found = lstatSync(file);
    return !(found.isFile() || found.isSymbolicLink());
  } catch {
    // Also of a name that is too long for any file.
    return true;
  }
}

/** Identifies all texts: SHA-256. */
export function taskHash({ definition, reward, files }: Pick<FolderSource, 'definition' | 'reward' | 'files'>): string {
  const texts = files === undefined ? [definition, reward] : [definition, reward, files];
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** A name that can be a folder's everywhere. */
export function checkTaskName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) return checkPortableName(name, 'BAD_TASK_NAME');
  throw inputError('BAD_TASK_NAME', `Expected a task's name of letters, digits, - and _, got "${name}"`);
}
