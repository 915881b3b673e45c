/** `braid doctor`: what this machine can run. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { writeFileAtomic } from '../io/atomic-write.ts';
import { examine } from '../services/doctor/doctor.ts';
import { examineGpu, gpuReport, reportIsGood } from '../services/doctor/gpu-report.ts';
import { budgetFor, deviceFor, machineMemory } from '../services/doctor/machine-memory.ts';
import { modelCheck } from '../services/doctor/model.ts';
import { resolveModel } from '../services/models/resolve.ts';
import { type ModelPlan, planModel } from '../trainer/memory/model-plan.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

/** Adds `doctor` to the program. */
export function registerDoctor(program: Command): void {
  withCommonOptions(program.command('doctor'))
    .option('--model <dir>', 'a model folder: show the memory that training it needs, by stage')
    .option('--memory <GiB>', 'memory limit for that plan (default: this machine)')
    .option('--gpu-report <file>', 'test and time the GPU for some minutes, and write a report as Markdown')
    .addHelpText('after', '\nExit code 1 if a check fails or the GPU report finds a wrong result, otherwise 0.')
    .action((options: Options, command: Command) => doctor(options, command));
}

interface Options {
  readonly model?: string;
  readonly memory?: string;
  readonly gpuReport?: string;
}

async function doctor(options: Options, command: Command): Promise<void> {
  const context = commandContext(command);
  const { workspace, threads } = context;
  if (options.gpuReport !== undefined) return await writeGpuReport(options.gpuReport, context);
  const plan = await planOf(options);
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

async function planOf({ model, memory }: Options): Promise<ModelPlan | null> {
  if (model === undefined) return null;
  const bytes = memory === undefined ? null : wholeNumber('--memory', memory) * 2 ** 30;
  const machine = await machineMemory(hostPaths());
  return planModel(resolveModel(model, hostPaths()), budgetFor(deviceFor('auto', machine), machine, bytes));
}

/** The plan as a table, in GiB. */
function planLines({ stages, weightBytes }: ModelPlan): string[] {
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
  const rows = stages.map((stage) => [
    String(stage.words),
    gib(stage.weights),
    gib(stage.optimiser),
    `${gib(stage.cache)} (${stage.sampled})`,
    `${gib(stage.activations)} (${stage.trained})`,
    gib(stage.total),
    stage.fits ? 'yes' : 'no',
  ]);
  const head = [
    'words',
    weightBytes === 2 ? 'weights (16 bits)' : 'weights',
    'optimiser',
    'sampling (rows)',
    'training (rows)',
    'total',
    'fits',
  ];
  return ['', 'LoRA r 16, 16 completions per prompt, in GiB:', ...tableLines(head, rows)];
}
