/** The text of a task that a run keeps: whatever becomes of the folder, the run continues with what it started with. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFilesAtomic } from '../../io/write-files.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { TASK_FILE } from '../../tasks/folder/definition.ts';
import { type FolderSource, readTaskFolder, taskHash } from '../../tasks/folder/source.ts';
import { nativeTask, type TaskSource, taskFacts } from '../../tasks/index.ts';
import { REWARD_FILE } from '../../tasks/sandbox/messages.ts';
import { fromStoredPath } from '../workspace/workspace.ts';

/** Where a run's folder has the copy: a task's folder again, of the same name. */
const KEPT = 'tasks';

/** What the history keeps of a task. */
export function taskColumns(source: TaskSource) {
  const { name, show } = taskFacts(source);
  return { task: name, taskHash: typeof source === 'string' ? null : taskHash(source), taskShow: show };
}

/** Writes the copy; of a native task there is none. */
export function keepTask(folder: string, source: TaskSource): void {
  if (typeof source === 'string') return;
  const copy = join(folder, KEPT, source.name);
  mkdirSync(copy, { recursive: true });
  writeFilesAtomic([
    { path: join(copy, TASK_FILE), content: source.definition },
    { path: join(copy, REWARD_FILE), content: source.reward },
  ]);
}

/** The task of a run as it was started. */
export function runTask(
  store: Pick<Store, 'folder'>,
  run: Pick<RunRow, 'id' | 'task' | 'taskHash' | 'folder'>,
): TaskSource {
  if (nativeTask(run.task) !== undefined) return run.task;
  const source = readTaskFolder(join(fromStoredPath(store.folder, run.folder), KEPT, run.task));
  if (taskHash(source) === run.taskHash) return source;
  throw inputError(
    'TASK_CHANGED',
    `${source.folder}: expected the text of the task that run ${run.id} was started with, but it was changed`,
    'Restore the files, or start a new run with the changed task.',
  );
}

/** The task of the run that wrote a checkpoint, by the copy in the run's folder; null: it has none. */
export function checkpointTask(checkpoint: string): FolderSource | null {
  const kept = join(checkpoint, '..', KEPT);
  const [name] = existsSync(kept) ? readdirSync(kept) : [];
  return name === undefined ? null : readTaskFolder(join(kept, name));
}
