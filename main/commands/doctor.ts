/** `braid doctor`: what this machine can run. */
import type { Command } from 'commander';
import { machineBudget, modelCheck } from '../services/doctor/model.ts';
import { examine } from '../services/doctor.ts';
import { resolveModel } from '../services/models.ts';
import { type ModelPlan, planModel } from '../trainer/model-plan.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { tableLines } from './table.ts';

/** Adds `doctor` to the program. */
export function registerDoctor(program: Command): void {
  withCommonOptions(program.command('doctor'))
    .description('what this machine can run, and what to do where something is missing')
    .option('--model <dir>', 'a model folder: what training it takes in memory, by stage')
    .option('--memory <GiB>', 'memory to plan that with (default: what is there)')
    .addHelpText('after', '\nExit code 1 when something that the embedded backend needs is missing, else 0.')
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
      ? '\nBraid works here.'
      : `\nBraid can't work here yet: ${failed.map(({ name }) => name).join(', ')}.`,
  );
  if (plan !== null) for (const line of planLines(plan)) context.print(line);
  context.out({ ok: failed.length === 0, checks, ...(plan && { plan }) });
  if (failed.length > 0) process.exitCode = 1;
}

async function planOf({ model, memory }: Options): Promise<ModelPlan | null> {
  if (model === undefined) return null;
  const budget = memory === undefined ? await machineBudget() : wholeNumber('--memory', memory) * 2 ** 30;
  return planModel(resolveModel(model, hostPaths()), budget);
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
  return ['', 'LoRA r 16, 16 completions of one prompt, GiB:', ...tableLines(head, rows)];
}
