/** Every task: the two that are native code, and those of folders. */
import type { ExternalAccess } from './external/access.ts';
import { outsideParts, parseDefinition, TASK_FILE } from './folder/definition.ts';
import { FOLDER_METRIC, folderFacts, openFolderTask } from './folder/folder-task.ts';
import type { FolderSource } from './folder/source.ts';
import { interleaveTask } from './interleave/task.ts';
import { replyTask } from './reply/task.ts';
import type { RewardThreads } from './sandbox/scorer.ts';
import type { Task, TaskFacts } from './task.ts';

const natives: readonly Task[] = [interleaveTask, replyTask];

/** The names of the native tasks. No folder can have one of them. */
export const nativeNames: readonly string[] = natives.map(({ name }) => name);

/** The native task of that name; undefined: it is a folder's. */
export function nativeTask(name: string): Task | undefined {
  return natives.find((candidate) => candidate.name === name);
}

/** A task as it is sent to a process: a native one by its name, a folder's by its texts. */
export type TaskSource = string | FolderSource;

/**
 * Opens a task. `rewardWorker`: the entry of the thread that computes a folder's reward; `access`: what its components
 * outside the sandbox were allowed. To be closed.
 */
export function openTask(source: TaskSource, rewardWorker: RewardThreads, access: ExternalAccess | null = null): Task {
  return typeof source === 'string' ? requireNative(source) : openFolderTask(source, rewardWorker, access);
}

/** What is known of a task without a record or a completion. */
export function taskFacts(source: TaskSource): TaskFacts {
  return typeof source === 'string' ? requireNative(source) : folderFacts(source);
}

/** Whether all its rewards are computed here: asking for one more costs nothing, and tells nobody. */
export function scoresAlone(source: TaskSource): boolean {
  if (typeof source === 'string') return true;
  const definition = parseDefinition(`${source.folder}/${TASK_FILE}`, source.definition);
  return Object.keys(outsideParts(definition)).length === 0;
}

/** The metric that a task's evaluations are compared by, by the name that a run has of it. */
export function mainMetricOf(name: string): string {
  return nativeTask(name)?.mainMetric ?? FOLDER_METRIC;
}

function requireNative(name: string): Task {
  const task = nativeTask(name);
  if (task !== undefined) return task;
  throw new Error(`Expected a native task (${nativeNames.join(', ')}), got "${name}"`);
}
