/** `braid task`: your own task and reward, from a template to what it would have given to an old run's completions. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { checkTask } from '../services/reward-trials/check-task.ts';
import { dryRun } from '../services/reward-trials/dry-run.ts';
import { rescoreRun } from '../services/reward-trials/rescore.ts';
import { findTask } from '../services/tasks/find-task.ts';
import { DEFAULT_TEMPLATE, newTask } from '../services/tasks/new-task.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import type { FolderSource } from '../tasks/folder/source.ts';
import { openTask } from '../tasks/index.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { tableLines } from './table.ts';

/** Adds `task` to the program. */
export function registerTask(program: Command): void {
  const task = program.command('task').description('your own task and reward: make, check, try and compare them');
  withCommonOptions(task.command('new <name>'))
    .description("make a task from a template: in the workspace's tasks/, or at a path")
    .option('--template <name>', 'a bundled task to start from', DEFAULT_TEMPLATE)
    .action((name: string, options: { readonly template: string }, command: Command) =>
      makeTask(name, options.template, commandContext(command)),
    );
  withCommonOptions(task.command('check <dir>'))
    .description("check a task's files, records and examples")
    .action((dir: string, _: object, command: Command) => check(dir, commandContext(command)));
  withCommonOptions(task.command('dry-run <dir>'))
    .description('what the reward gives on completions of a file')
    .requiredOption('--completions <file>', 'JSONL of records with completions')
    .action((dir: string, options: { readonly completions: string }, command: Command) =>
      tryOut(dir, options.completions, commandContext(command)),
    );
  withCommonOptions(task.command('rescore'))
    .description("what a run's stored completions would get under this version of a reward")
    .requiredOption('--run <id>', 'the run')
    .requiredOption('--task <dir>', 'the task: a name or a folder')
    .action((options: { readonly run: string; readonly task: string }, command: Command) =>
      rescore(wholeNumber('--run', options.run), options.task, commandContext(command)),
    );
  for (const command of task.commands) command.exitOverride();
}

function makeTask(name: string, template: string, context: CommandContext): void {
  const { root } = openWorkspace({ workspace: context.workspace.root });
  const folder = newTask(name, template, { workspace: root, paths: hostPaths() });
  context.print(`${folder}: change task.yaml and reward.ts, then \`braid task check ${argumentOf(name)}\``);
  context.out({ task: name, template, folder });
}

/** How the next command can name what was made. */
function argumentOf(name: string): string {
  return /[\\/]/.test(name) ? resolve(name) : name;
}

function check(dir: string, context: CommandContext): void {
  const result = checkTask(folderSource(dir, context), hostPaths().rewardWorker);
  const { ok, task, rewards, records, examples, faults } = result;
  for (const fault of faults) context.print(`[!] ${fault}`);
  if (ok) {
    const counts = [
      records === null ? [] : `${records} records`,
      examples === null ? [] : `${examples} examples`,
    ].flat();
    context.print(
      `${task}: ready. Reward: ${rewards.join(', ')}.${counts.length === 0 ? '' : ` ${counts.join(', ')}.`}`,
    );
  }
  context.out(result);
  if (!ok) process.exitCode = 2;
}

function tryOut(dir: string, file: string, context: CommandContext): void {
  const task = openTask(folderSource(dir, context), hostPaths().rewardWorker);
  try {
    const result = dryRun(task, resolve(file));
    const parts = Object.entries(result.components).map(([name, { mean, std }]) => [name, short(mean), short(std)]);
    const rows = [['reward', short(result.mean), short(result.std)], ...(parts.length > 1 ? parts : [])];
    for (const line of tableLines(['', 'mean', 'std'], rows)) context.print(line);
    context.print(
      `${result.n} completions, ${result.groups} groups: ${result.dead_groups} would be dead; ${result.failures} failed; ${result.ms_per_completion.toFixed(2)} ms each`,
    );
    for (const { line, reason } of result.failed) context.print(`[!] ${file}, line ${line}: ${reason}`);
    context.out(result);
  } finally {
    task.close();
  }
}

function rescore(runId: number, dir: string, context: CommandContext): void {
  const store = openStore(openWorkspace({ workspace: context.workspace.root }).database);
  try {
    const result = rescoreRun(store, runId, folderSource(dir, context), hostPaths().rewardWorker);
    const rows = result.steps.map(({ step, n, before, after }) => [String(step), n, short(before), short(after)]);
    for (const line of tableLines(['step', 'n', 'before', 'after'], rows)) context.print(line);
    context.print(
      `${result.n} completions: ${short(result.before)} before, ${short(result.after)} after; the order changes in ${result.order_changed} of ${result.groups} groups, the gradient's sign for ${result.sign_changed} completions; ${result.failures} failed`,
    );
    context.out(result);
  } finally {
    store.close();
  }
}

/** A folder's task; the native ones have no text to try. */
function folderSource(task: string, context: CommandContext): FolderSource {
  const source = findTask(task, { workspace: context.workspace.root, paths: hostPaths() });
  if (typeof source !== 'string') return source;
  throw inputError(
    'NATIVE_TASK',
    `"${source}" is one of Braid's own tasks, which have no files`,
    'Give a task folder.',
  );
}

function short(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3) : '–';
}
