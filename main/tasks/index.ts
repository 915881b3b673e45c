/** Every task, by name. */
import { inputError } from '../errors.ts';
import { interleaveTask } from './interleave/task.ts';
import { replyTask } from './reply/task.ts';
import type { Task } from './task.ts';

const tasks: readonly Task[] = [interleaveTask, replyTask];

/** The task of that name. */
export function taskByName(name: string): Task {
  const task = tasks.find((candidate) => candidate.name === name);
  if (task !== undefined) return task;
  throw inputError(
    'UNKNOWN_TASK',
    `Expected "task" to be one of ${tasks.map((t) => t.name).join(', ')}, got "${name}"`,
  );
}
