/** `braid queue`: what waits in a workspace. An open app starts it; without one, `braid queue run` does. */
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { openApp } from '../services/app/app.ts';
import { plannedLater } from '../services/training/planned-start.ts';
import { openForReading } from '../services/workspace/read-only.ts';
import { openWorkspace } from '../services/workspace/workspace.ts';
import { openStore, type Store } from '../store/index.ts';
import type { QueueKey, QueuePlace } from '../store/queue.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, commandContext, END_SIGNALS, wholeNumber, withCommonOptions } from './shared.ts';
import { type TrainOptions, trainConfig } from './train-config.ts';
import { followTraining } from './training-view.ts';

/** How often `queue run` checks whether anything is left. */
const LOOK_MS = 500;

/** Adds `queue` to the program. */
export function registerQueue(program: Command): void {
  const queue = program.command('queue');
  withCommonOptions(queue.command('list', { isDefault: true }))
    .description('what waits, next one first')
    .action((_: object, command: Command) => list(commandContext(command)));
  withCommonOptions(queue.command('add'))
    .description('queue a run; an open app starts it when nothing else trains')
    .option('--dataset <file>', 'training records (JSONL)')
    .option('--model <dir>', 'a model name or Hugging Face folder')
    .option('--task <name>', "a task of your own: uses its folder's settings")
    .option('--method <name>', 'grpo, sft, polychromic-grpo or polychromic-sft')
    .option('--config <file>', 'a YAML file of configuration fields, or the name of a preset')
    .option('--set <field=value...>', 'one field of the configuration, overriding the file')
    .option('--from <checkpoint>', 'start from the weights of a checkpoint')
    .option('--engine <name>', 'train on a server elsewhere')
    .option('--steps <n>', 'optimiser steps')
    .option('--name <name>', 'of the run')
    .action((options: TrainOptions & { readonly name?: string }, command: Command) => add(options, command));
  withCommonOptions(queue.command('remove <place>'))
    .description('take one out: run:3, stage:2 or sweep:1, as the list shows them')
    .action((place: string, _: object, command: Command) => remove(place, commandContext(command)));
  withCommonOptions(queue.command('move <place> <position>'))
    .description('give one another position, from 1')
    .action((place: string, to: string, _: object, command: Command) => move(place, to, commandContext(command)));
  withCommonOptions(queue.command('run'))
    .description('start what waits, one after the other, until nothing does')
    .action((_: object, command: Command) => run(commandContext(command)));
}

function list(context: CommandContext): void {
  const store = openForReading(context.workspace);
  try {
    report(store, context);
  } finally {
    store.close();
  }
}

function report(store: Store, context: CommandContext): void {
  const places = store.queue.list();
  if (places.length === 0) context.print('Nothing waits.');
  for (const [i, place] of places.entries()) {
    const reason = place.reason === null ? '' : `  (could not start: ${place.reason})`;
    context.print(`${i + 1}  ${keyText(place)}  ${place.name ?? 'a run'}${reason}`);
  }
  context.out({
    queue: places.map(({ kind, id, name, reason }) => ({ place: `${kind}:${id}`, kind, id, name, reason })),
  });
}

function add(options: TrainOptions & { readonly name?: string }, command: Command): void {
  const context = commandContext(command);
  inStore(context, (store) => {
    const config = plannedLater(store, trainConfig(options, command, context), hostPaths());
    store.queue.addRun(options.name ?? null, config);
  });
}

function remove(place: string, context: CommandContext): void {
  inStore(context, (store) => {
    const { kind, id } = requirePlace(store, place);
    if (kind === 'stage') store.stages.setState(id, 'planned');
    else if (kind === 'run') store.queue.removeRun(id);
    else if (store.sweeps.get(id)?.state === 'running')
      throw inputError('SWEEP_BUSY', `${place} is running in an app`, 'Pause it there.');
    else store.sweeps.setState(id, 'paused');
  });
}

function move(place: string, to: string, context: CommandContext): void {
  inStore(context, (store) => {
    const { kind, id } = requirePlace(store, place);
    const others = store.queue.list().filter((other) => other.kind !== kind || other.id !== id);
    others.splice(wholeNumber('position', to) - 1, 0, { kind, id, name: null, queuedAt: 0, reason: null });
    store.queue.reorder(others);
  });
}

/** Changes the queue, then prints it. */
function inStore(context: CommandContext, work: (store: Store) => void): void {
  const store = openStore(openWorkspace({ workspace: context.workspace.root }).database);
  try {
    store.transaction(() => work(store));
    report(store, context);
  } finally {
    store.close();
  }
}

function keyText({ kind, id }: QueueKey): string {
  return `${kind}:${id}`;
}

function requirePlace(store: Store, text: string): QueuePlace {
  const found = store.queue.list().find((place) => keyText(place) === text);
  if (found !== undefined) return found;
  throw inputError('PLACE_UNKNOWN', `Expected a place of the queue, got "${text}"`, 'braid queue shows them: run:3.');
}

/** The app without a page: it holds the workspace, so that no other starts the same. */
async function run(context: CommandContext): Promise<void> {
  const app = openApp({
    workspace: context.workspace.root,
    paths: hostPaths(),
    what: 'braid queue run',
    startsQueue: true,
  });
  let view = followTraining(context);
  let asked = false;
  let failed = false;
  app.live.onStart(({ name }) => context.say(`${name}:`));
  app.live.onEvents((_, events) => view.onEvents(events));
  app.live.onEnd(({ runId, state, step, error }) => {
    failed ||= error !== null;
    view.end();
    view = followTraining(context);
    const stageId = app.store.runs.get(runId)?.stageId ?? null;
    const stage = stageId === null ? undefined : app.store.stages.get(stageId);
    if (stage?.metScore == null) context.say(`Run ${runId} ${state} at step ${step}.`);
    else context.say(`"${stage.name}" is met without training: held-out ${stage.metScore.toFixed(3)}.`);
  });
  /** What is left behind a stage that failed waits for a person. */
  const isIdle = (): boolean => {
    const startable = app.queue.list().filter(({ kind, reason }) => {
      return reason === null && (kind !== 'stage' || app.queue.held() === null);
    });
    const works = app.jobs.list().some(({ state }) => state === 'running');
    return app.live.list().length === 0 && startable.length === 0 && !works;
  };
  const ended = new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (!isIdle() && !asked) return;
      clearInterval(look);
      resolve();
    }, LOOK_MS);
  });
  const stop = (): void => {
    if (!asked) context.say('\nStopping after this step, then saving.');
    asked = true;
  };
  for (const signal of END_SIGNALS) process.on(signal, stop);
  try {
    // Whoever types this decides about the queue of a workspace that was opened elsewhere.
    app.queue.release();
    // And asks for what could not be started before.
    for (const { kind, id, reason } of app.queue.list()) if (kind === 'run' && reason !== null) app.queue.retry(id);
    await ended;
    report(app.store, context);
    const held = app.queue.held();
    if (held !== null) context.say(`The stages in the queue are paused: ${held}`);
    failed ||= held !== null || app.queue.list().some(({ reason }) => reason !== null);
  } finally {
    await app.close();
    for (const signal of END_SIGNALS) process.off(signal, stop);
  }
  if (asked) process.exitCode = 130;
  else if (failed) process.exitCode = 1;
}
