/** `braid sweep`: many runs as one plan, one after the other, with one table at the end. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { splitReplyFile } from '../services/datasets/reply-split/split-file.ts';
import { replyData } from '../services/replies/data.ts';
import { draftMethods, usualSplit } from '../services/replies/method-sweep.ts';
import { markAbandonedRuns } from '../services/runs/runs.ts';
import { createSweep } from '../services/sweeps/create.ts';
import { draftSweep, type SweepDraft } from '../services/sweeps/draft.ts';
import { estimateDraft, measureRuns } from '../services/sweeps/estimate.ts';
import { sweepReport } from '../services/sweeps/report.ts';
import { listSweeps, sweepView } from '../services/sweeps/result.ts';
import { followSweeps, requireIdleSweep, runSweepHere } from '../services/sweeps/run-here.ts';
import { openSweepRuns, requireSweep, retryTrials } from '../services/sweeps/sweep-runs.ts';
import { leaving } from '../services/trainer-process/channel.ts';
import { type LiveRuns, openLiveRuns } from '../services/training/live-runs.ts';
import { readSettings } from '../services/workspace/settings.ts';
import { openWorkspace, type Workspace } from '../services/workspace/workspace.ts';
import { openStore, type Store } from '../store/index.ts';
import { counted, formatBytes, formatDuration } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { readPlan, type SweepOptions } from './sweep-plan.ts';
import { sweepLines } from './sweep-table.ts';
import { followTraining, stopOnSignals } from './training-view.ts';

interface Options extends SweepOptions {
  readonly replies?: boolean;
  readonly estimate?: boolean;
  readonly queue?: boolean;
  readonly resume?: string | true;
  readonly retry?: boolean;
  readonly show?: string;
  readonly list?: boolean;
}

const HELP = `
  braid sweep --config interleave-tiny --dataset F --grid learning_rate=1e-4,2e-4 beta=0,0.04 --seeds 3
  braid sweep --config run.yaml --random learning_rate=1e-6..1e-3:log --trials 16 --halving 20,4
  braid sweep plan.yaml

Runs are trained one after the other; Ctrl-C saves the current one, and --resume continues. A setting counts as best
only if it is significantly better than every other over the seeds. docs/formats.md describes plan files and --json.`;

/** Adds `sweep` to the program. */
export function registerSweep(program: Command): void {
  withCommonOptions(program.command('sweep'))
    .argument('[plan]', 'a YAML file')
    .option('--name <name>', 'of the sweep and its runs')
    .option('--grid <field=values...>', 'every combination of these values: learning_rate=1e-4,2e-4')
    .option('--random <field=range...>', 'draws from ranges or lists: learning_rate=1e-6..1e-3:log')
    .option('--trials <n>', 'with --random: how many settings')
    .option('--seeds <list>', 'how many seeds, or which: 3 or 42,43,44')
    .option('--halving <steps[,factor]>', 'stop the losers after so many steps; one in FACTOR continues (3)')
    .option('--dataset <file>', 'training records (JSONL)')
    .option('--model <dir>', 'a model name or Hugging Face folder')
    .option('--task <name>', "a task of your own: uses its folder's settings")
    .option('--method <name>', 'grpo, sft, polychromic-grpo or polychromic-sft')
    .option('--config <file>', 'a YAML file of configuration fields, or the name of a preset')
    .option('--set <field=value...>', 'one field of the common configuration')
    .option('--from <checkpoint>', 'start every run from a checkpoint')
    .option('--engine <name>', 'train on a server elsewhere')
    .option('--steps <n>', 'optimiser steps of a whole run')
    .option('--tensorboard <dir>', 'write TensorBoard events of all runs there as they train')
    .option('--replies', 'the four methods of the reply system, with --seeds')
    .option('--estimate', "measure and print what the plan takes; don't train")
    .option('--queue', 'put it in the queue of the workspace, for an app or braid queue run')
    .option('--resume [id]', 'resume the newest unfinished sweep, or this one')
    .option('--retry', 'with --resume: also its failed and cancelled runs')
    .option('--show <id>', 'print the table of a sweep')
    .option('--list', 'print all sweeps')
    .addHelpText('after', HELP)
    .action((plan: string | undefined, options: Options, command: Command) => sweep(plan, options, command));
}

async function sweep(plan: string | undefined, options: Options, command: Command): Promise<void> {
  const context = commandContext(command);
  refuseTwoAims(options);
  const workspace = openWorkspace({ workspace: context.workspace.root });
  const store = openStore(workspace.database);
  try {
    markAbandonedRuns(store);
    if (options.list === true) return list(store, context);
    if (options.show !== undefined) return show(store, wholeNumber('--show', options.show), context);
    if (options.resume !== undefined) return await run(store, resumed(store, options), context);
    const draft = await draftOf(plan, options, command, context, { store, workspace });
    if (options.estimate === true) return await estimate(store, draft, context);
    const sweepId = createSweep(store, draft, hostPaths());
    context.say(`Sweep ${sweepId}: ${draft.trials.length} runs, at most ${draft.steps} steps in total.`);
    if (options.queue !== true) return await run(store, sweepId, context);
    store.sweeps.enqueue(sweepId);
    show(store, sweepId, context);
  } finally {
    store.close();
  }
}

/** One of these is what it does; without any, it trains. */
const AIMS = ['estimate', 'queue', 'resume', 'show', 'list'] as const;

function refuseTwoAims(options: Options): void {
  const [first, second] = AIMS.filter((name) => options[name] !== undefined);
  if (second !== undefined)
    throw inputError(
      'BAD_OPTION',
      `Expected one of ${AIMS.map((name) => `--${name}`).join(', ')}, got --${first} and --${second}`,
      'Give one at a time: the others would do nothing.',
    );
  if (options.retry === true && options.resume === undefined)
    throw inputError(
      'BAD_OPTION',
      'Expected --retry together with --resume',
      'Add --resume, with the id of the sweep.',
    );
}

async function draftOf(
  plan: string | undefined,
  options: Options,
  command: Command,
  context: CommandContext,
  place: { readonly store: Store; readonly workspace: Workspace },
): Promise<SweepDraft> {
  if (options.replies === true) {
    const { seeds } = readPlan(
      undefined,
      { ...(options.seeds !== undefined && { seeds: options.seeds }) },
      command,
      context,
    ).plan;
    const app = { ...place, paths: hostPaths() };
    return draftMethods(app, seeds, async () =>
      splitReplyFile(replyData(app).train, place.workspace.datasets, usualSplit),
    );
  }
  if (plan === undefined && options.grid === undefined && options.random === undefined && options.seeds === undefined)
    throw inputError(
      'BAD_OPTION',
      'Expected a plan, --grid, --random or --seeds; got none of them',
      'For instance --grid learning_rate=1e-4,2e-4 --seeds 3; braid sweep --help shows more.',
    );
  const read = readPlan(plan, options, command, context);
  return draftSweep(read.plan, read.base);
}

function list(store: Store, context: CommandContext): void {
  const sweeps = listSweeps(store);
  for (const { id, name, state, over, runs, failed, reason } of sweeps)
    context.print(
      `${id}  ${name}  ${state}, ${over} of ${counted(runs, 'run')} over${failed === 0 ? '' : `, ${failed} failed`}${reason === null ? '' : `  (${reason})`}`,
    );
  context.out({ sweeps });
}

function show(store: Store, sweepId: number, context: CommandContext): void {
  const view = sweepView(store, sweepId);
  const reason = view.reason === null ? '' : `: ${view.reason}`;
  context.print(
    `${view.name} (sweep ${sweepId}), ${view.state}${reason}; ${view.over} of ${counted(view.runs, 'run')} over`,
  );
  for (const line of sweepLines(view)) context.print(line);
  context.out({ ...sweepReport(view), workspace: context.workspace.root });
}

async function estimate(store: Store, draft: SweepDraft, context: CommandContext): Promise<void> {
  const controller = new AbortController();
  const job = { signal: controller.signal, progress: () => context.say('Measuring a kind of run …') };
  const found = await estimateDraft(draft, measureRuns({ store, paths: hostPaths() }, job));
  context.print(
    `${counted(found.runs, 'run')}, ${counted(found.steps, 'step')}: about ${formatDuration(found.seconds)}, ${formatBytes(found.diskBytes)} for checkpoints, ${formatBytes(found.memoryBytes)} memory`,
  );
  if (found.measured < found.kinds)
    context.print(`Measured ${found.measured} of ${found.kinds} kinds of runs; the others count as their mean.`);
  context.out(found);
}

/** The sweep to resume, which no living process advances. */
function resumed(store: Store, { resume, retry }: Options): number {
  const id =
    resume === true
      ? store.sweeps.list().find(({ state }) => state === 'paused' || state === 'running')?.id
      : wholeNumber('--resume', String(resume));
  if (id === undefined) throw inputError('NOTHING_TO_RESUME', 'There is no unfinished sweep in this workspace');
  const sweep = requireIdleSweep(store, id);
  if (retry === true) retryTrials(store, sweep.id);
  return sweep.id;
}

/** Runs a sweep in this process, to its end or until Ctrl-C. */
async function run(store: Store, sweepId: number, context: CommandContext): Promise<void> {
  const changes = { publish: () => undefined };
  const given = hostPaths();
  const paths = { ...given, trainer: leaving(given.trainer, () => live.promised()) };
  const live: LiveRuns = openLiveRuns(store, { paths, changes, settings: () => readSettings(store) });
  const notices = { add: ({ message }: { readonly message: string }) => context.say(message) };
  const sweeps = openSweepRuns(store, { live, changes, notices });
  const host = { store, live, sweeps };
  followSweeps(host);
  let view = followTraining(context);
  live.onEvents((_, events) => view.onEvents(events));
  const renew = (): void => {
    view.end();
    view = followTraining(context);
  };
  const stop = stopOnSignals(
    {
      send: () => sweeps.pause(sweepId),
      kill: () => {
        for (const { runId } of live.list()) live.kill(runId);
      },
    },
    context,
  );
  const name = (runId: number): void => context.say(`${store.sweeps.trialOfRun(runId)?.name ?? `Run ${runId}`}:`);
  try {
    await runSweepHere(host, sweepId, { before: name, after: renew });
  } finally {
    stop.release();
    view.end();
  }
  show(store, sweepId, context);
  if (requireSweep(store, sweepId).state === 'done') return;
  context.say(`Resume with braid sweep --resume ${sweepId}.`);
  process.exitCode = stop.asked() ? 130 : 1;
}
