/** `braid train`: one run, from a dataset to a checkpoint. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { BraidError, inputError } from '../errors.ts';
import { type EngineEntry, openEngineFile, requireEngine } from '../services/engines/engines.ts';
import { standingOf } from '../services/runs/held-out.ts';
import { newestResumable, resumePoint } from '../services/runs/history.ts';
import { standingReport } from '../services/runs/run-report.ts';
import { findCheckpoint, markAbandonedRuns, requireRun } from '../services/runs/runs.ts';
import { savedConfig } from '../services/runs/saved-config.ts';
import { seedRunName } from '../services/runs/seed-groups.ts';
import { engineOfRun } from '../services/servers/require-up.ts';
import { findTask } from '../services/tasks/find-task.ts';
import { runTask } from '../services/tasks/run-task.ts';
import { openTextWorkers } from '../services/text-worker/workers.ts';
import { trackerWarnings } from '../services/trackers/follow.ts';
import { itemOf } from '../services/training/checklist.ts';
import { preflight } from '../services/training/preflight.ts';
import type { RunOutcome } from '../services/training/run-outcome.ts';
import type { StartAdvice } from '../services/training/start-advice.ts';
import { type LiveRun, resumeTraining, startTraining } from '../services/training/training.ts';
import { readSettings } from '../services/workspace/settings.ts';
import { lostHistory, openWorkspace } from '../services/workspace/workspace.ts';
import { openStore, type Store } from '../store/index.ts';
import type { TaskSource } from '../tasks/index.ts';
import { counted } from '../text/format.ts';
import { TRACKERS } from '../trainer/config/config.ts';
import { agree, type ConsentOptions, withConsentOptions } from './consent-options.ts';
import { requireServer } from './engine-server.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { followJob } from './side-job.ts';
import { configOf, type TrainOptions, trainConfig, trainFields, unusedSettings } from './train-config.ts';
import { trainSeeds } from './train-seeds.ts';
import { followTraining, stopOnSignals } from './training-view.ts';

/** Adds `train` to the program. */
export function registerTrain(program: Command): void {
  withConsentOptions(withCommonOptions(program.command('train')))
    .option('--dataset <file>', 'training records (JSONL); the .test.jsonl next to it is held out')
    .option('--model <dir>', 'Hugging Face model folder, or a name of `braid models list`')
    .option('--task <name>', 'interleave, reply, a task of the workspace, a bundled one, or a task folder')
    .option('--method <name>', 'grpo, sft, polychromic-grpo or polychromic-sft')
    .option('--config <file>', 'a YAML file of configuration fields, or the name of a preset')
    .option('--set <field=value...>', 'one field of the configuration, overriding the file')
    .option(
      '--resume [checkpoint]',
      'resume the newest unfinished run, or the run of a checkpoint; with --steps also a finished one',
    )
    .option('--from <checkpoint>', 'start a new stage from the weights of a checkpoint')
    .option('--engine <name>', 'train on a server elsewhere: an engine of `braid engine list`')
    .option('--steps <n>', 'optimiser steps; with --resume, those of a warm-up too')
    .option('--tensorboard <dir>', 'write TensorBoard events there as it trains, a folder for each run')
    .option('--report-to <trackers...>', `send it live to ${TRACKERS.join(', ')}`)
    .option('--checklist', "don't train: list what is ready, to check or wrong for this configuration")
    .option('--experiment <name>', 'name of the experiment: the run is named <name>/seed_<seed>')
    .option('--seeds <list>', 'several seeds of one experiment, one run after the other: 42,43,44')
    .action((options: TrainOptions & ConsentOptions, command: Command) => train(options, command));
}

async function train(options: TrainOptions & ConsentOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  checkOptions(options, command);
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const lost = lostHistory(workspace);
  const store = openStore(workspace.database);
  if (lost !== null) context.say(`${lost.message}.\n${lost.remedy}`);
  try {
    markAbandonedRuns(store);
    if (options.seeds !== undefined && options.allowExternal !== undefined) {
      const { task } = trainConfig(options, command, context);
      agree(findTask(task, { workspace: store.folder, paths: hostPaths() }), options);
    }
    if (options.checklist !== true) await requireServer(engineOf(store, options), context);
    if (options.checklist === true) return await printChecklist(store, options, command, context);
    if (options.seeds !== undefined) return await trainSeeds(store, options, command, context);
    const view = followTraining(context, readSettings(store));
    const run = begin(store, options, command, context, view.onEvents);
    const stop = stopOnSignals(run, context);
    const outcome = await run.outcome;
    stop.release();
    view.end();
    for (const warning of trackerWarnings(store, run.runId)) context.say(warning);
    report(store, outcome, run, context, stop.asked());
  } finally {
    store.close();
  }
}

/** The engine that will be needed, as far as its options or the run that is resumed name one. */
function engineOf(store: Store, { engine, resume, steps }: TrainOptions): EngineEntry | null {
  const engines = openEngineFile();
  if (resume === undefined) return engine === undefined ? null : requireEngine(engines, engine);
  const runId =
    resume === true ? newestResumable(store, stepsOf(steps)).id : findCheckpoint(store, resolve(resume))?.runId;
  return runId === undefined ? null : engineOfRun(store, engines, runId);
}

/** Conflicting options; a resumed run keeps the configuration it started with. */
function checkOptions(options: TrainOptions, command: Command): void {
  if (options.resume === undefined) {
    if (options.dataset !== undefined || options.config !== undefined || options.task !== undefined) return;
    throw inputError(
      'BAD_OPTION',
      'Expected --dataset, --config, --task or --resume; got none of them',
      'Generate a dataset with `braid dataset --curriculum --output-dir datasets`.',
    );
  }
  const settled = [
    'dataset',
    'model',
    'method',
    'task',
    'config',
    'set',
    'from',
    'engine',
    'tensorboard',
    'reportTo',
    'seed',
    'seeds',
    'experiment',
    'backend',
    'threads',
    'checklist',
  ];
  const given = settled.find((name) => command.getOptionValueSourceWithGlobals(name) === 'cli');
  if (given === undefined) return;
  throw inputError(
    'BAD_OPTION',
    `Expected --resume with no other option than --steps, got --${given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: a resumed run keeps its configuration`,
    'Leave it out, or start a new stage from the checkpoint with --from.',
  );
}

/** The app's pre-flight check. If something failed, exit code 1; open points are for the user to judge. */
async function printChecklist(
  store: Store,
  options: TrainOptions & ConsentOptions,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const config = trainConfig(options, command, context);
  const paths = hostPaths();
  agreeFor(() => findTask(config.task, { workspace: store.folder, paths }), options);
  const workers = openTextWorkers(paths.textWorker);
  const desk = { store, paths, workspace: context.workspace, live: { list: () => [] }, library: { workers } };
  const report = await followJob('checking', context, ({ signal, onProgress }) =>
    preflight(desk, () => config, null, { signal, progress: onProgress }),
  );
  await workers.close();
  if (report === null) return;
  const items = report.checks.map(itemOf);
  const { advice } = report;
  if (advice !== null) context.print(`${advice.sentence}${setting(advice)}`);
  const marks = { done: '[x]', open: '[ ]', failed: '[!]' } as const;
  for (const { name, state, detail, next } of items)
    context.print(`${marks[state]} ${name}: ${detail}${next === null ? '' : `\n    ${next}`}`);
  const ready = items.every(({ state }) => state !== 'failed');
  context.out({ ready, advice, items });
  if (!ready) process.exitCode = 1;
}

/** How to follow it from the command line. */
function setting({ warm_up_steps: steps }: StartAdvice): string {
  return steps === null ? '' : ` Add --set warm_up_steps=${steps}.`;
}

function begin(
  store: Store,
  options: TrainOptions & ConsentOptions,
  command: Command,
  context: CommandContext,
  onEvents: Parameters<typeof startTraining>[2]['onEvents'],
): LiveRun {
  const common = { paths: hostPaths(), ...(onEvents === undefined ? {} : { onEvents }) };
  if (options.resume === undefined) {
    const fields = trainFields(options, command, context);
    const config = configOf(fields, options);
    agreeFor(() => findTask(config.task, { workspace: store.folder, paths: hostPaths() }), options);
    const named = options.experiment === undefined ? {} : { name: seedRunName(options.experiment, config.seed) };
    const run = startTraining(store, config, { ...common, ...named });
    for (const note of unusedSettings(fields, savedConfig(requireRun(store, run.runId)))) context.say(note);
    return run;
  }
  const maxSteps = stepsOf(options.steps);
  const steps = maxSteps === undefined ? {} : { maxSteps };
  if (options.resume === true) {
    const run = newestResumable(store, maxSteps);
    agreeFor(() => runTask(store, run), options);
    if (run.step > 0 && resumePoint(store, run) === null)
      context.say(`Run ${run.id} has no checkpoint: it restarts, and repeats its ${counted(run.step, 'step')}.`);
    return resumeTraining(store, run.id, { ...common, ...steps });
  }
  const path = resolve(options.resume);
  const checkpoint = findCheckpoint(store, path);
  if (checkpoint === undefined) {
    throw inputError(
      'CHECKPOINT_UNKNOWN',
      `${path}: expected a checkpoint of a run in the workspace ${context.workspace.root}, but it has none there`,
      'Use --from to start a new stage from a checkpoint of another workspace.',
    );
  }
  agreeFor(() => runTask(store, requireRun(store, checkpoint.runId)), options);
  return resumeTraining(store, checkpoint.runId, { ...common, ...steps, checkpoint: { step: checkpoint.step, path } });
}

/** A run that trained has failed, whatever was wrong: another exit code than for a refused one. */
function failedRun(cause: BraidError): BraidError {
  const { code, message, remedy } = cause;
  return new BraidError(code, message, { cause, ...(remedy !== undefined && { remedy }) });
}

function stepsOf(steps: string | undefined): number | undefined {
  return steps === undefined ? undefined : wholeNumber('--steps', steps);
}

/** Remembers what the options agree to; the task is read only where they do. */
function agreeFor(taskOf: () => TaskSource, options: ConsentOptions): void {
  if (options.allowExternal !== undefined) agree(taskOf(), options);
}

function report(store: Store, outcome: RunOutcome, run: LiveRun, context: CommandContext, asked: boolean): void {
  if (outcome.error !== null && !outcome.kept) throw outcome.error;
  const standing = standingOf(store, requireRun(store, outcome.runId));
  context.out({
    run_id: outcome.runId,
    state: outcome.state,
    steps: outcome.step,
    checkpoint: outcome.checkpoint,
    standing: standingReport(standing),
    folder: run.folder,
    workspace: context.workspace.root,
  });
  // A second Ctrl-C kills the trainer: not a failure, the user interrupted the run.
  const ended = outcome.state === 'interrupted' && asked;
  if (outcome.error !== null && !ended) throw outcome.state === 'failed' ? failedRun(outcome.error) : outcome.error;
  const resumable = ended || outcome.state === 'stopped' || outcome.state === 'collapsed';
  const how = `${outcome.state} at step ${outcome.step}${resumable ? '; resume with --resume' : ''}`;
  context.print(`Run ${outcome.runId} ${how}. Checkpoint: ${outcome.checkpoint ?? 'none'}`);
  if (standing !== null) context.print(`${standing.sentence}.`);
  if (resumable) process.exitCode = 130;
}
