/** `braid doctor`: what this machine can run. */
import type { Command } from 'commander';
import { examine } from '../services/doctor/doctor.ts';
import { machineBudget, modelCheck } from '../services/doctor/model.ts';
import { resolveModel } from '../services/models/resolve.ts';
import { type ModelPlan, planModel } from '../trainer/memory/model-plan.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

/** Adds `doctor` to the program. */
export function registerDoctor(program: Command): void {
  withCommonOptions(program.command('doctor'))
    .description('check what this machine can run, and what to do if something is missing')
    .option('--model <dir>', 'a model folder: show the memory that training it needs, by stage')
    .option('--memory <GiB>', 'memory limit for that plan (default: this machine)')
    .addHelpText('after', '\nExit code 1 if something that the embedded backend needs is missing, otherwise 0.')
    .action((options: Options, command: Command) => doctor(options, command));
}

interface Options {
  readonly model?: string;
  readonly memory?: string;
}

async function doctor(options: Options, command: Command): Promise<void> {
  const context = commandContext(command);
  const { workspace, threads } = context;
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

async function planOf({ model, memory }: Options): Promise<ModelPlan | null> {
  if (model === undefined) return null;
  const bytes = memory === undefined ? null : wholeNumber('--memory', memory) * 2 ** 30;
  return planModel(resolveModel(model, hostPaths()), await machineBudget(bytes));
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
