/** The two texts that make a task: what a run keeps, and what its process is sent. */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { faultsError, readTextFile } from '../../io/text-file.ts';
import { REWARD_FILE } from '../sandbox/messages.ts';
import { TASK_FILE } from './definition.ts';

/** A task of a folder. */
export interface FolderSource {
  /** The folder's own name. */
  readonly name: string;
  /** The folder, for messages. */
  readonly folder: string;
  /** task.yaml */
  readonly definition: string;
  /** reward.ts */
  readonly reward: string;
}

/** Reads a folder; the files are not checked yet. */
export function readTaskFolder(folder: string): FolderSource {
  const [definition, reward] = [TASK_FILE, REWARD_FILE].map((file) => readTextFile(join(folder, file)));
  const faults = [definition, reward].flatMap((content) => (content?.kind === 'bad' ? [content.fault] : []));
  if (definition?.kind !== 'good' || reward?.kind !== 'good')
    throw faultsError(
      'BAD_TASK',
      faults,
      'A task is a folder with task.yaml and reward.ts; `braid task new NAME` makes one.',
    );
  return { name: basename(folder), folder, definition: definition.value, reward: reward.value };
}

/** Identifies both texts: SHA-256. */
export function taskHash({ definition, reward }: Pick<FolderSource, 'definition' | 'reward'>): string {
  return createHash('sha256')
    .update(JSON.stringify([definition, reward]))
    .digest('hex');
}

/** A name that can be a folder's everywhere. */
export function checkTaskName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) return name;
  throw inputError('BAD_TASK_NAME', `Expected a task's name of letters, digits, - and _, got "${name}"`);
}
