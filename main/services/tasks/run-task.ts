/** The text of a task that a run keeps: whatever becomes of the folder, the run continues with what it started with. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFilesAtomic } from '../../io/write-files.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { reachOf } from '../../tasks/external/access.ts';
import { outsideParts, parseDefinition, TASK_FILE } from '../../tasks/folder/definition.ts';
import { type FolderSource, readTaskFolder, taskHash } from '../../tasks/folder/source.ts';
import { nativeTask, type TaskSource, taskFacts } from '../../tasks/index.ts';
import { REWARD_FILE } from '../../tasks/sandbox/messages.ts';
import { formatBytes } from '../../text/format.ts';
import { float32Bytes } from '../../trainer/memory/float32-bytes.ts';
import { fromStoredPath } from '../workspace/workspace.ts';

/** Where a run's folder has the copy: a task's folder again, of the same name. */
const KEPT = 'tasks';

/** What the history keeps of a task. */
export function taskColumns(source: TaskSource) {
  const { name, show } = taskFacts(source);
  if (typeof source === 'string') return { task: name, taskHash: null, taskShow: show };
  return {
    task: name,
    taskHash: taskHash(source),
    taskShow: show,
    externalJson: JSON.stringify(externalFacts(source)),
  };
}

/** A component of a run's reward that was computed outside the sandbox, as the history keeps it. */
export interface ExternalFact {
  readonly component: string;
  readonly kind: string;
  /** Of what the user agreed to; null: it reaches nothing. */
  readonly hash: string | null;
  readonly host: string | null;
}

/** The components of a task that are computed outside the sandbox. */
function externalFacts(source: TaskSource): ExternalFact[] {
  if (typeof source === 'string') return [];
  const { folder, definition, files = {} } = source;
  const outside = outsideParts(parseDefinition(join(folder, TASK_FILE), definition));
  return Object.entries(outside).map(([component, spec]) => {
    const { hash = null, host = null } = reachOf(component, spec, files) ?? {};
    return { component, kind: spec.kind, hash, host };
  });
}

/**
 * The same in a line for a run's history, with the memory that reward models take; null: there are none. `models`: their
 * folders, by component.
 */
export function externalWords(source: TaskSource, models: Readonly<Record<string, string>> = {}): string | null {
  const facts = externalFacts(source);
  if (facts.length === 0) return null;
  const words = facts.map(({ component, kind, host, hash }) => {
    const where = host === null ? '' : ` at ${host}`;
    const folder = models[component];
    const memory = folder === undefined ? '' : `, about ${formatBytes(float32Bytes(folder))} of memory`;
    return `${component} (${kind}${where}${hash === null ? '' : `, ${hash.slice(0, 12)}`}${memory})`;
  });
  return `Rewards outside the sandbox: ${words.join(', ')}`;
}

/** Writes the copy; of a native task there is none. */
export function keepTask(folder: string, source: TaskSource): void {
  if (typeof source === 'string') return;
  const copy = join(folder, KEPT, source.name);
  mkdirSync(copy, { recursive: true });
  const files = Object.entries(source.files ?? {}).map(([name, content]) => ({ path: join(copy, name), content }));
  for (const { path } of files) mkdirSync(dirname(path), { recursive: true });
  writeFilesAtomic([
    { path: join(copy, TASK_FILE), content: source.definition },
    { path: join(copy, REWARD_FILE), content: source.reward },
    ...files,
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
  return keptTask(join(checkpoint, '..'));
}

/** The copy of a task in a folder of a run; null: it has none. */
export function keptTask(folder: string): FolderSource | null {
  const kept = join(folder, KEPT);
  const [name] = existsSync(kept) ? readdirSync(kept) : [];
  return name === undefined ? null : readTaskFolder(join(kept, name));
}
