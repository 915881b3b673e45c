/** `braid doctor`: what this machine can run. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { readDataset } from '../services/datasets/index.ts';
import { examine } from '../services/doctor/doctor.ts';
import { examineGpu, gpuReport, reportIsGood } from '../services/doctor/gpu-report.ts';
import { budgetFor, deviceFor, machineMemory } from '../services/doctor/machine-memory.ts';
import { modelCheck } from '../services/doctor/model.ts';
import { resolveModel } from '../services/models/resolve.ts';
import { findTask } from '../services/tasks/find-task.ts';
import { OWN_RECORDS } from '../services/tasks/start-config.ts';
import { openTask } from '../tasks/index.ts';
import { type ModelPlan, planModel, type RecordsPlan, type StagePlan } from '../trainer/memory/model-plan.ts';
import type { MemoryPlan } from '../trainer/memory/plan.ts';
import { recordLengths } from '../trainer/stage/record-lengths.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

/** Adds `doctor` to the program. */
export function registerDoctor(program: Command): void {
  withCommonOptions(program.command('doctor'))
    .option('--model <dir>', 'a model folder: show the memory that training it needs, by stage')
    .option('--task <name>', 'with --model: the memory for the records of a task as well, a name or a folder')
    .option('--dataset <file>', "with --task: its records (default: the task folder's own)")
    .option('--memory <GiB>', 'memory limit for that plan (default: this machine)')
    .option('--gpu-report <file>', 'test and time the GPU for some minutes, and write a report as Markdown')
    .addHelpText('after', '\nExit code 1 if a check fails or the GPU report finds a wrong result, otherwise 0.')
    .action((options: Options, command: Command) => doctor(options, command));
}

interface Options {
  readonly model?: string;
  readonly task?: string;
  readonly dataset?: string;
  readonly memory?: string;
  readonly gpuReport?: string;
}

async function doctor(options: Options, command: Command): Promise<void> {
  const context = commandContext(command);
  const { workspace, threads } = context;
  if (options.gpuReport !== undefined) return await writeGpuReport(options.gpuReport, context);
  const plan = await planOf(options, context);
  const found = await followJob('checking', context, (job) =>
    examine({ paths: hostPaths(), workspace, threads, ...job }),
  );
  if (found === null) return;
  const checks = plan === null ? found : [...found, modelCheck(plan)];
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { status, name, detail, next } of checks) {
    context.print(`${status.padEnd(4)}  ${name.padEnd(width)}  ${detail}`);
    if (next !== null) context.print(`${' '.repeat(6 + width + 2)}${next}`);
  }
  const failed = checks.filter(({ status }) => status === 'FAIL');
  context.print(
    failed.length === 0
      ? '\nBraid works on this machine.'
      : `\nBraid can't run on this machine yet: ${failed.map(({ name }) => name).join(', ')}.`,
  );
  if (plan !== null) for (const line of planLines(plan)) context.print(line);
  context.out({ ok: failed.length === 0, checks, ...(plan && { plan }) });
  if (failed.length > 0) process.exitCode = 1;
}

async function writeGpuReport(file: string, context: CommandContext): Promise<void> {
  const result = await followJob('testing the GPU', context, (job) => examineGpu(hostPaths(), {}, job));
  if (result === null) return;
  const path = resolve(file);
  writeFileAtomic(path, gpuReport(result), { what: 'the GPU report' });
  context.print(`Written to ${path}`);
  context.out({ path, ...result });
  if (!reportIsGood(result)) process.exitCode = 1;
}

async function planOf({ model, memory, ...asked }: Options, context: CommandContext): Promise<ModelPlan | null> {
  if (model === undefined) return null;
  const bytes = memory === undefined ? null : wholeNumber('--memory', memory) * 2 ** 30;
  const machine = await machineMemory(hostPaths());
  const folder = resolveModel(model, hostPaths());
  const lengths = lengthsOf(asked, folder, context);
  return planModel(folder, budgetFor(deviceFor('auto', machine), machine, bytes), lengths);
}

/** The lengths of a task's records; null: none are asked about. */
function lengthsOf({ task: name, dataset }: Options, folder: string, { workspace }: CommandContext) {
  if (name === undefined) {
    if (dataset === undefined) return null;
    throw inputError('BAD_OPTION', 'Expected --dataset with --task', 'Name the task of these records with --task.');
  }
  const source = findTask(name, { workspace: workspace.root, paths: hostPaths() });
  const file = dataset ?? (typeof source === 'string' ? undefined : join(source.folder, OWN_RECORDS));
  if (file === undefined)
    throw inputError('BAD_OPTION', `Expected --dataset: ${name} has no records of its own`, 'Give a file of records.');
  // Records are read without the reward, so it starts no thread.
  const task = openTask(source, '');
  return recordLengths(folder, task, readDataset(file, task));
}

const HEAD = ['optimiser', 'sampling (rows)', 'training (rows)', 'total', 'fits'];

/** The plan as tables, in GiB. */
function planLines({ stages, full, weightBytes, records, unused }: ModelPlan): string[] {
  const weights = weightBytes < 4 ? `weights (${8 * weightBytes} bits)` : 'weights';
  const row = (what: string, plan: MemoryPlan): string[] => [
    what,
    gib(plan.weights),
    gib(plan.optimiser),
    `${gib(plan.cache)} (${plan.sampled})`,
    `${gib(plan.activations)} (${plan.trained})`,
    gib(plan.total),
    plan.fits ? 'yes' : 'no',
  ];
  const byWords = (of: readonly StagePlan[]): string[][] => of.map((stage) => row(String(stage.words), stage));
  return [
    ...['', 'LoRA r 16, 16 completions per prompt, in GiB:'],
    ...tableLines(['words', weights, ...HEAD], byWords(stages)),
    ...['', 'All weights trained (use_peft false):'],
    ...tableLines(['words', 'weights', ...HEAD], byWords(full)),
    ...(records === undefined ? [] : recordLines(records, row)),
    ...(unused === undefined ? [] : ['', unused]),
  ];
}

function recordLines(
  { promptTokens, completionTokens, lora, full }: RecordsPlan,
  row: (what: string, plan: MemoryPlan) => string[],
) {
  return [
    ...['', `These records, prompts of up to ${promptTokens} tokens and completions of up to ${completionTokens}:`],
    ...tableLines(['trained', 'weights', ...HEAD], [row('LoRA r 16', lora), row('all weights', full)]),
  ];
}

const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
