/** `braid task`: your own task and reward, from a template to what it would have given to an old run's completions. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { checkTask } from '../services/reward-trials/check-task.ts';
import { dryRun } from '../services/reward-trials/dry-run.ts';
import { rescoreRun } from '../services/reward-trials/rescore.ts';
import { DEFAULT_TEMPLATE, newTask } from '../services/tasks/new-task.ts';
import { openFolderReward, serveReward } from '../services/trl/serve-reward.ts';
import { makeWorkspace, openWorkspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { openTask, type TaskSource } from '../tasks/index.ts';
import { counted } from '../text/format.ts';
import { allowedAccess, type ConsentOptions, withConsentOptions } from './consent-options.ts';
import { commandHint } from './hints.ts';
import { hostPaths } from './host-paths.ts';
import { endAtInterrupt } from './interrupt.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { tableLines } from './table.ts';
import { folderSource, registerTaskConsent } from './task-consent.ts';

interface NewOptions {
  readonly template: string;
  readonly set?: readonly string[];
}

interface DryRunOptions extends ConsentOptions {
  readonly completions: string;
}

interface RescoreOptions extends ConsentOptions {
  readonly run: string;
  readonly task: string;
}

/** Adds `task` to the program. */
export function registerTask(program: Command): void {
  const task = program.command('task');
  withCommonOptions(task.command('new <name>'))
    .description("make a task from a template: in the workspace's tasks/, or at a path")
    .option('--template <name>', 'a bundled task to start from', DEFAULT_TEMPLATE)
    .option('--set <name=value...>', 'of a template that makes its records: a setting, such as family=chain_sum')
    .action((name: string, options: NewOptions, command: Command) => makeTask(name, options, commandContext(command)));
  withConsentOptions(withCommonOptions(task.command('check <dir>')))
    .description("check a task's files, records and examples")
    .action((dir: string, options: ConsentOptions, command: Command) => check(dir, options, commandContext(command)));
  withConsentOptions(withCommonOptions(task.command('dry-run <dir>')))
    .description('what the reward gives on completions of a file')
    .requiredOption('--completions <file>', 'JSONL of records with completions')
    .action((dir: string, options: DryRunOptions, command: Command) => tryOut(dir, options, commandContext(command)));
  withConsentOptions(withCommonOptions(task.command('rescore')))
    .description("what a run's stored completions would get under this version of a reward")
    .requiredOption('--run <id>', 'the run')
    .requiredOption('--task <dir>', 'the task: a name or a folder')
    .action((options: RescoreOptions, command: Command) => rescore(options, commandContext(command)));
  withConsentOptions(withCommonOptions(task.command('serve-reward <dir>')))
    .description('answer another program with the reward of a folder of `export --for trl`: JSON lines in and out')
    .action((dir: string, options: ConsentOptions, command: Command) =>
      serve(resolve(dir), options, commandContext(command)),
    );
  registerTaskConsent(task);
}

async function makeTask(name: string, { template, set = [] }: NewOptions, context: CommandContext): Promise<void> {
  const { root } = makeWorkspace({ workspace: context.workspace.root });
  const folder = await newTask(name, template, { workspace: root, paths: hostPaths() }, settingsOf(set));
  const files = ['task.yaml', 'reward.ts', 'reward.py'].filter((file) => existsSync(join(folder, file)));
  context.print(`${folder}: change ${files.join(' and ')}, then \`braid task check ${argumentOf(name)}\``);
  context.out({ task: name, template, folder });
}

function settingsOf(set: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    set.map((entry) => {
      const at = entry.indexOf('=');
      if (at > 0) return [entry.slice(0, at), entry.slice(at + 1)];
      throw inputError('BAD_OPTION', `Expected --set NAME=VALUE, got "${entry}"`);
    }),
  );
}

/** How the next command can name what was made. */
function argumentOf(name: string): string {
  return /[\\/]/.test(name) ? resolve(name) : name;
}

function check(dir: string, options: ConsentOptions, context: CommandContext): void {
  endAtInterrupt();
  const source = folderSource(dir, context);
  const result = checkTask(
    source,
    hostPaths().rewardWorker,
    () => allowedAccess(source, options, context),
    commandHint,
  );
  const { ok, task, rewards, records, held_out, examples, faults, external, notes, first } = result;
  for (const fault of faults) context.print(`[!] ${fault}`);
  for (const text of notes) context.print(`[ ] ${text}`);
  if (first !== null) {
    context.print(`The first record's prompt: ${shortened(first.prompt)}`);
    if (first.target !== '') context.print(`The first record's target: ${shortened(first.target)}`);
  }
  if (ok) {
    const counts = [
      records === null ? [] : counted(records, 'record'),
      held_out === null ? [] : `${held_out} held out`,
      examples === null ? [] : counted(examples, 'example'),
    ].flat();
    context.print(
      `${task}: ready. Reward: ${rewards.map((name) => (Object.hasOwn(external, name) ? `${name} (${external[name]})` : name)).join(', ')}.${counts.length === 0 ? '' : ` ${counts.join(', ')}.`}`,
    );
  }
  context.out(result);
  if (!ok) process.exitCode = 2;
}

/** Of a text in one line, as much as shows what it is. */
function shortened(value: string): string {
  const shown = JSON.stringify(value);
  return shown.length > 300 ? `${shown.slice(0, 300)}…` : shown;
}

function tryOut(dir: string, options: DryRunOptions, context: CommandContext): void {
  endAtInterrupt();
  const { completions: file } = options;
  const source = folderSource(dir, context);
  const task = openTask(source, hostPaths().rewardWorker, allowedAccess(source, options, context));
  try {
    const result = dryRun(task, source, resolve(file));
    const parts = Object.entries(result.components).map(([name, { mean, std }]) => [name, short(mean), short(std)]);
    const rows = [['reward', short(result.mean), short(result.std)], ...(parts.length > 1 ? parts : [])];
    for (const line of tableLines(['', 'mean', 'std'], rows)) context.print(line);
    context.print(
      `${counted(result.n, 'completion')}, ${result.failures} failed; ${counted(result.groups, 'group')}: ${result.dead_groups} would be dead${result.failed_groups === 0 ? '' : `, ${result.failed_groups} failed`}; ${result.ms_per_completion.toFixed(2)} ms each`,
    );
    for (const note of result.notes) context.print(`[ ] ${note}.`);
    for (const { line, reason } of result.failed) context.print(`[!] ${file}, line ${line}: ${reason}`);
    context.out(result);
  } finally {
    task.close();
  }
}

async function serve(folder: string, options: ConsentOptions, context: CommandContext): Promise<void> {
  const accessOf = (task: TaskSource) => allowedAccess(task, options, context);
  const reward = openFolderReward(folder, hostPaths().rewardWorker, accessOf);
  try {
    await serveReward(reward, process.stdin, (line) => process.stdout.write(line));
  } finally {
    reward.close();
  }
}

function rescore(options: RescoreOptions, context: CommandContext): void {
  endAtInterrupt();
  const runId = wholeNumber('--run', options.run);
  const source = folderSource(options.task, context);
  const access = allowedAccess(source, options, context);
  const store = openStore(openWorkspace({ workspace: context.workspace.root }).database);
  try {
    const result = rescoreRun(store, runId, source, hostPaths().rewardWorker, access);
    const rows = result.steps.map(({ step, n, before, after }) => [String(step), n, short(before), short(after)]);
    for (const line of tableLines(['step', 'n', 'before', 'after'], rows)) context.print(line);
    context.print(
      `${counted(result.n, 'completion')}: ${short(result.before)} before, ${short(result.after)} after; the order changes in ${result.order_changed} of ${counted(result.groups, 'group')}, the gradient's sign for ${counted(result.sign_changed, 'completion')}; ${counted(result.dead_before, 'dead group')} before, ${result.dead_after} after; ${result.failures} failed`,
    );
    for (const note of result.notes) context.print(`[!] ${note}`);
    context.out(result);
  } finally {
    store.close();
  }
}

function short(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3) : '–';
}
