/** `braid train`: one run, from a dataset to a checkpoint. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { inputError } from '../errors.ts';
import { readConfigFile } from '../services/presets.ts';
import { newestResumable } from '../services/run-history.ts';
import { findCheckpoint, markAbandonedRuns } from '../services/runs.ts';
import { type LiveRun, type RunOutcome, resumeTraining, startTraining } from '../services/training.ts';
import { openWorkspace } from '../services/workspace.ts';
import { openStore, type Store } from '../store/index.ts';
import { configFields, fieldMeta, parseConfig, type TrainConfig } from '../trainer/config.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followTraining, stopOnSignals } from './training-view.ts';

interface TrainOptions {
  readonly dataset?: string;
  readonly model?: string;
  readonly method?: string;
  readonly config?: string;
  readonly resume?: string | true;
  readonly from?: string;
  readonly steps?: string;
  readonly set?: readonly string[];
}

/** Adds `train` to the program. */
export function registerTrain(program: Command): void {
  withCommonOptions(program.command('train'))
    .description('train one stage: GRPO by default')
    .option('--dataset <file>', 'training records (JSONL); the .test.jsonl beside it is held out')
    .option('--model <dir>', 'Hugging Face model folder, or "tiny" for the bundled model')
    .option('--method <name>', 'grpo or sft')
    .option('--config <file>', 'a run.yaml: any fields of the configuration')
    .option('--set <field=value...>', 'one field of the configuration, over the file')
    .option('--resume [checkpoint]', 'go on with the newest unfinished run, or with the run of a checkpoint')
    .option('--from <checkpoint>', 'start a new stage from the weights of a checkpoint')
    .option('--steps <n>', 'optimiser steps')
    .action((options: TrainOptions, command: Command) => train(options, command));
}

async function train(options: TrainOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  checkOptions(options, command);
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const store = openStore(workspace.database);
  try {
    markAbandonedRuns(store);
    const view = followTraining(context);
    const run = begin(store, options, command, context, view.onEvents);
    const stop = stopOnSignals(run, context);
    const outcome = await run.outcome;
    stop.release();
    view.end();
    report(outcome, run, context, stop.asked());
  } finally {
    store.close();
  }
}

/** Options that settle what another of them settles too; a run goes on with the configuration that it began with. */
function checkOptions(options: TrainOptions, command: Command): void {
  if (options.resume === undefined) {
    if (options.dataset !== undefined || options.config !== undefined) return;
    throw inputError(
      'BAD_OPTION',
      'Expected --dataset, --config or --resume; got none of them',
      'Make a dataset with `braid dataset --curriculum --output-dir datasets`.',
    );
  }
  const settled = ['dataset', 'model', 'method', 'config', 'set', 'from', 'seed', 'backend', 'threads'];
  const given = settled.find((name) => command.getOptionValueSourceWithGlobals(name) === 'cli');
  if (given === undefined) return;
  throw inputError(
    'BAD_OPTION',
    `Expected --resume with no more than --steps, got --${given}: a run goes on with the configuration that it began with`,
    'Leave it out, or start a new stage from the checkpoint with --from.',
  );
}

function begin(
  store: Store,
  options: TrainOptions,
  command: Command,
  context: CommandContext,
  onEvents: Parameters<typeof startTraining>[2]['onEvents'],
): LiveRun {
  const common = { paths: hostPaths(), ...(onEvents === undefined ? {} : { onEvents }) };
  if (options.resume === undefined) return startTraining(store, trainConfig(options, command, context), common);
  const steps = options.steps === undefined ? {} : { maxSteps: wholeNumber('--steps', options.steps) };
  if (options.resume === true) return resumeTraining(store, newestResumable(store).id, { ...common, ...steps });
  const path = resolve(options.resume);
  const checkpoint = findCheckpoint(store, path);
  if (checkpoint === undefined) {
    throw inputError(
      'CHECKPOINT_UNKNOWN',
      `${path}: expected a checkpoint that a run of the workspace ${context.workspace.root} wrote, there is none`,
      'Use --from to start a new stage from a checkpoint of elsewhere.',
    );
  }
  return resumeTraining(store, checkpoint.runId, { ...common, ...steps, checkpoint: { step: checkpoint.step, path } });
}

/** The configuration: defaults, then the file, then --set, then the options. */
export function trainConfig(options: TrainOptions, command: Command, context: CommandContext): TrainConfig {
  const file = options.config === undefined ? {} : readConfigFile(options.config);
  const given = (name: string): boolean =>
    ['cli', 'env'].includes(String(command.getOptionValueSourceWithGlobals(name)));
  const fields: Record<string, unknown> = { ...file, ...Object.fromEntries((options.set ?? []).map(assignment)) };
  const take = (field: keyof TrainConfig, value: unknown): void => {
    if (value !== undefined) fields[field] = value;
  };
  take('dataset', options.dataset);
  take('model', options.model);
  take('method', options.method);
  take('from_checkpoint', options.from);
  if (options.steps !== undefined) take('max_steps', wholeNumber('--steps', options.steps));
  if (given('seed')) take('seed', context.seed);
  if (given('backend')) take('backend', context.backend);
  if (given('threads')) take('threads', context.threads);
  return parseConfig(fields, options.config ?? 'command line');
}

function assignment(text: string): [string, unknown] {
  const at = text.indexOf('=');
  const field = text.slice(0, at);
  if (at > 0 && (configFields as readonly string[]).includes(field))
    return [field, yamlValue(field, text.slice(at + 1))];
  throw inputError(
    'BAD_OPTION',
    `Expected --set field=value with a field of the configuration, got "${text}"`,
    `For instance learning_rate=2e-4 (${fieldMeta('learning_rate').doc})`,
  );
}

function yamlValue(field: string, text: string): unknown {
  try {
    return parse(text);
  } catch {
    throw inputError('BAD_OPTION', `Expected --set ${field}= to be followed by a YAML value, got "${text}"`);
  }
}

function report(outcome: RunOutcome, run: LiveRun, context: CommandContext, asked: boolean): void {
  if (outcome.error !== null && !outcome.kept) throw outcome.error;
  context.out({
    run_id: outcome.runId,
    state: outcome.state,
    steps: outcome.step,
    checkpoint: outcome.checkpoint,
    folder: run.folder,
    workspace: context.workspace.root,
  });
  // A second Ctrl-C kills the trainer: that is no failure, the run was interrupted as asked.
  const ended = outcome.state === 'interrupted' && asked;
  if (outcome.error !== null && !ended) throw outcome.error;
  const resumable = ended || outcome.state === 'stopped' || outcome.state === 'collapsed';
  const how = `${outcome.state} at step ${outcome.step}${resumable ? '; go on with --resume' : ''}`;
  context.print(`Run ${outcome.runId} ${how}. Checkpoint: ${outcome.checkpoint ?? 'none'}`);
  if (resumable) process.exitCode = 130;
}
