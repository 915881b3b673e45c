/** The tasks that have files: those of the workspace, which can be changed, and the bundled ones, which can be copied. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { writeError } from '../../io/atomic-write.ts';
import { removeFolderSync } from '../../io/remove-folder.ts';
import { writeFilesAtomic } from '../../io/write-files.ts';
import { checkDefinition, TASK_FILE } from '../../tasks/folder/definition.ts';
import {
  checkTaskName,
  type FolderSource,
  MOST_BYTES,
  outsideKinds,
  readTaskFolder,
  taskHash,
} from '../../tasks/folder/source.ts';
import { nativeNames } from '../../tasks/index.ts';
import { REWARD_FILE } from '../../tasks/sandbox/messages.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { findTask, type TaskPlaces, templateNames, workspaceTaskNames } from './find-task.ts';
import { OWN_RECORDS, SUGGESTED_CONFIG } from './start-config.ts';

/** `workspace`: can be changed. A name that is in both is the workspace's. */
export type TaskOrigin = 'workspace' | 'bundled';

export interface TaskSummary {
  readonly name: string;
  readonly origin: TaskOrigin;
  /** From task.yaml; null where it can't be read. */
  readonly title: string | null;
  /** Components of the reward. */
  readonly rewards: readonly string[];
  /** The kinds of those that reward.ts doesn't compute. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly check: string | null;
  /** Turns that the model has in a conversation; null: the task has no environment. */
  readonly maxTurns: number | null;
  /** Whether records lie in its folder. */
  readonly hasRecords: boolean;
  /** Why it can't be used; null: it can. */
  readonly problem: string | null;
}

/** The two texts of a task, as they are on the disk. */
export interface TaskFiles {
  readonly name: string;
  readonly origin: TaskOrigin;
  readonly folder: string;
  readonly definition: string;
  readonly reward: string;
  /** Of both texts. */
  readonly hash: string;
  /** The records in its folder; null: none. */
  readonly records: string | null;
  /** Whether the folder suggests settings for a run. */
  readonly hasConfig: boolean;
}

/** Every task with files: the workspace's first. */
export function listTasks(places: TaskPlaces): TaskSummary[] {
  const own = workspaceTaskNames(places);
  const known = new Set(own);
  const bundled = templateNames(places.paths).filter((name) => !known.has(name));
  return [
    ...own.map((name) => summary(name, 'workspace', join(places.workspace, 'tasks', name))),
    ...bundled.map((name) => summary(name, 'bundled', join(places.paths.resources, 'tasks', name))),
  ];
}

function summary(name: string, origin: TaskOrigin, folder: string): TaskSummary {
  const nothing = { name, origin, title: null, rewards: [], kinds: {}, check: null, maxTurns: null, hasRecords: false };
  try {
    if (nativeNames.includes(name)) throw nativeHasNoFiles(name);
    const { definition } = readTaskFolder(folder);
    const checked = checkDefinition(definition);
    const hasRecords = existsSync(join(folder, OWN_RECORDS));
    if ('faults' in checked) {
      const [first] = checked.faults;
      const line = first?.line == null ? '' : `, line ${first.line}`;
      return { ...nothing, hasRecords, problem: `${TASK_FILE}${line}: ${first?.reason}` };
    }
    const { title, rewards, check = null } = checked.definition;
    const kinds = outsideKinds(checked.definition);
    const maxTurns = checked.definition.environment?.max_turns ?? null;
    const facts = { title, rewards: Object.keys(rewards), kinds, check, maxTurns, hasRecords };
    return { name, origin, ...facts, problem: null };
  } catch (error) {
    if (error instanceof BraidError) return { ...nothing, problem: error.message };
    throw error;
  }
}

function originOf(name: string, places: TaskPlaces): TaskOrigin {
  return workspaceTaskNames(places).includes(name) ? 'workspace' : 'bundled';
}

/** The task of that name, which has to have files. */
export function requireSource(name: string, places: TaskPlaces): FolderSource {
  const known = [...workspaceTaskNames(places), ...templateNames(places.paths)];
  if (known.includes(name)) {
    const source = findTask(name, places);
    if (typeof source !== 'string') return source;
  }
  if (!nativeNames.includes(name))
    throw inputError(
      'UNKNOWN_TASK',
      `There is no task "${name}" in this workspace${didYouMean(nearestName(name, known))}`,
      'It may have been removed; the list of tasks shows what there is.',
    );
  throw nativeHasNoFiles(name);
}

function nativeHasNoFiles(name: string): BraidError {
  return inputError(
    'NATIVE_TASK',
    `"${name}" is one of Braid's own tasks, which have no files`,
    'Choose another task.',
  );
}

/** Both texts of a task. */
export function readTask(name: string, places: TaskPlaces): TaskFiles {
  const { folder, definition, reward, ...source } = requireSource(name, places);
  const records = join(folder, OWN_RECORDS);
  return {
    name: source.name,
    origin: originOf(name, places),
    folder,
    definition,
    reward,
    hash: taskHash({ definition, reward }),
    records: existsSync(records) ? records : null,
    hasConfig: existsSync(join(folder, SUGGESTED_CONFIG)),
  };
}

export interface SavedTask {
  readonly definition: string;
  readonly reward: string;
  /** The hash of the texts that were changed: what somebody else has saved meanwhile isn't overwritten. null: anything is. */
  readonly over: string | null;
}

/** Saves both texts of a task of the workspace, both or neither. Returns their hash. They may have faults. */
export function saveTask(name: string, { definition, reward, over }: SavedTask, places: TaskPlaces): string {
  const folder = requireOwnFolder(name, places);
  if ([definition, reward].some((text) => Buffer.byteLength(text) > MOST_BYTES))
    throw inputError('TASK_TOO_LARGE', `Each text of a task has at most ${MOST_BYTES / 2 ** 20} MiB`, 'Shorten it.');
  const saved = readTaskFolder(folder);
  const now = taskHash({ definition: saved.definition, reward: saved.reward });
  if (over !== null && now !== over)
    throw inputError(
      'TASK_CHANGED_ELSEWHERE',
      `${folder} was changed by another program since you opened it; your changes are kept here`,
      'Save again to overwrite it, or discard your changes to read it again.',
    );
  writeFilesAtomic([
    { path: join(folder, TASK_FILE), content: definition },
    { path: join(folder, REWARD_FILE), content: reward },
  ]);
  return taskHash({ definition, reward });
}

/** Deletes the folder of a task of the workspace. Runs keep their own copies. */
export function removeTask(name: string, places: TaskPlaces): void {
  const folder = requireOwnFolder(name, places);
  try {
    removeFolderSync(folder);
  } catch (error) {
    throw writeError(error, folder, 'the removal of a task');
  }
}

/** The folder of a task in the workspace's tasks/; never one that a link leads to. */
function requireOwnFolder(name: string, places: TaskPlaces): string {
  const folder = join(places.workspace, 'tasks', checkTaskName(name));
  const [own, parent] = [folder, join(folder, '..')].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (own?.isDirectory() === true && parent?.isDirectory() === true) return folder;
  if (own === undefined && !templateNames(places.paths).includes(name) && !nativeNames.includes(name))
    throw inputError(
      'UNKNOWN_TASK',
      `The task "${name}" isn't in this workspace any more`,
      'Unsaved changes stay on its page: make a task of that name, then save them.',
    );
  throw inputError(
    'TASK_READ_ONLY',
    `"${name}" is not a task of this workspace, so it can't be changed`,
    'Copy it to a new name and change the copy.',
  );
}
