/** `braid export`: a run for TensorBoard, spreadsheets, data frames and trackers; or a stage as a folder that TRL runs. */
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { exportRun } from '../services/runs/exports/exports.ts';
import { requireRun } from '../services/runs/runs.ts';
import { savedConfig } from '../services/runs/saved-config.ts';
import { sendToTracker } from '../services/trackers/trackers.ts';
import { exportForTrl, inputsOfConfig, inputsOfRun } from '../services/trl/export.ts';
import { requireRunFolder } from '../services/workspace/own-folders.ts';
import { openUpToDate } from '../services/workspace/read-only.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore, type Store } from '../store/index.ts';
import { counted } from '../text/format.ts';
import { TRACKERS, type TrackerName } from '../trainer/config/config.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { type TrainOptions, trainConfig } from './train-config.ts';

interface ExportOptions extends Pick<TrainOptions, 'config' | 'dataset' | 'model' | 'task' | 'set' | 'from'> {
  readonly run?: string;
  readonly for?: string;
  readonly output?: string;
}

/** The options that describe a stage which hasn't run. */
const STAGE = ['config', 'dataset', 'model', 'task', 'set', 'from'] as const;

/** Adds `export` to the program. */
export function registerExport(program: Command): void {
  withCommonOptions(program.command('export'))
    .option('--run <id>', 'the run')
    .option(
      '--for <program>',
      'trl: the configuration, dataset and reward, to train elsewhere and import again; trackio, wandb, mlflow: send the run there',
    )
    .option('--output <dir>', 'output folder')
    .option('--config <file>', '--for trl without a run: a YAML file of configuration fields, or a preset')
    .option('--dataset <file>', '--for trl without a run: training records (JSONL)')
    .option('--model <dir>', '--for trl without a run: Hugging Face model folder, or "tiny"')
    .option('--task <name>', '--for trl without a run: interleave, reply, or a task of your own')
    .option('--from <checkpoint>', '--for trl without a run: start from the weights of a checkpoint')
    .option('--set <field=value...>', '--for trl without a run: one field of the configuration')
    .action((options: ExportOptions, command: Command) => exportFor(options, command));
}

async function exportFor(options: ExportOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  const { run, output } = options;
  const tracker = TRACKERS.find((name) => name === options.for);
  if (options.for !== undefined && options.for !== 'trl' && tracker === undefined)
    throw inputError(
      'BAD_OPTION',
      `Expected --for trl, ${TRACKERS.join(', ')}, got "${options.for}"`,
      'Leave --for out to export a run.',
    );
  if ((output === undefined) !== (tracker !== undefined))
    throw inputError(
      'BAD_OPTION',
      tracker === undefined ? 'Expected --output DIR, got none' : `Expected --for ${tracker} without --output`,
      tracker === undefined ? 'Name a folder for the files.' : 'Nothing is written to a folder.',
    );
  const stage = STAGE.find((name) => options[name] !== undefined);
  if (stage !== undefined && (options.for !== 'trl' || run !== undefined))
    throw inputError(
      'BAD_OPTION',
      `Expected --${stage} with --for trl and without --run, which has a configuration`,
      'Leave it out, or describe a stage that has not run: --for trl --config FILE.',
    );
  if (run === undefined && stage === undefined)
    throw inputError('BAD_OPTION', 'Expected --run ID, or --for trl with --config, --dataset or --task; got none');
  // A run is exported from the workspace that has it; a stage that hasn't run needs none.
  const { root } = context.workspace;
  const store =
    run === undefined ? openStore(openWorkspace({ workspace: root }).database) : openUpToDate(context.workspace);
  try {
    if (tracker !== undefined) await sendTo(store, wholeNumber('--run', run ?? ''), tracker, context);
    else if (options.for === 'trl') writeForTrl(store, options, command, context);
    else writeRun(store, wholeNumber('--run', run ?? ''), resolve(output ?? ''), context);
  } finally {
    store.close();
  }
}

function writeRun(store: Store, runId: number, folder: string, context: CommandContext): void {
  const files = exportRun(store, runId, folder);
  context.print(`${counted(files.steps, 'step')}: ${files.tensorboard}, ${files.metrics}`);
  context.print(
    files.completions === null
      ? 'No completions were stored.'
      : `${counted(files.samples, 'completion')}: ${files.completions}`,
  );
  context.out(files);
}

async function sendTo(store: Store, runId: number, tracker: TrackerName, context: CommandContext): Promise<void> {
  const run = requireRun(store, runId);
  const place = { runId, folder: requireRunFolder(store, run), config: savedConfig(run) };
  const sent = await sendToTracker(place, store, tracker, hostPaths().resources);
  context.print(
    sent === 0 ? `${tracker} has all of it.` : `${counted(sent, 'step')} and evaluations sent to ${tracker}.`,
  );
  context.out({ run: runId, tracker, sent });
}

function writeForTrl(store: Store, options: ExportOptions, command: Command, context: CommandContext): void {
  const paths = hostPaths();
  const inputs =
    options.run === undefined
      ? inputsOfConfig(store, trainConfig(options, command, context), paths)
      : inputsOfRun(store, wholeNumber('--run', options.run), paths);
  const made = exportForTrl(inputs, resolve(options.output ?? ''), paths, join(paths.resources, '..'));
  context.print(
    `${made.folder}: ${counted(made.train, 'training record')}, ${made.test} held out. README.md says how to run it.`,
  );
  for (const { field, value, instead } of made.not_carried_over)
    context.print(`[!] not carried over: ${field}: ${JSON.stringify(value)} (${instead})`);
  for (const unused of made.unused_chat_settings) context.print(`[!] ${unused}`);
  context.out(made);
}
