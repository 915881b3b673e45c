/** `braid train --seeds`: one experiment, one run per seed, and the spread over them. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { type SeedGroupSummary, seedGroupSummary, seedRunName } from '../services/runs/seed-groups.ts';
import { trackerWarnings } from '../services/trackers/follow.ts';
import { startTraining } from '../services/training/training.ts';
import type { Store } from '../store/index.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, wholeNumber } from './shared.ts';
import { tableLines } from './table.ts';
import { type TrainOptions, trainConfig } from './train-config.ts';
import { followTraining, stopOnSignals } from './training-view.ts';

/** Trains the seeds in turn; a run that doesn't finish ends the command, and so does a stop in a run's last step. */
export async function trainSeeds(
  store: Store,
  options: TrainOptions,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const seeds = seedsOf(options.seeds ?? '');
  const config = trainConfig(options, command, context);
  const experiment =
    options.experiment ?? (options.config === undefined ? config.method : basename(options.config, '.yaml'));
  for (const [done, seed] of seeds.entries()) {
    context.say(`Seed ${seed} of ${experiment}.`);
    const view = followTraining(context);
    const run = startTraining(
      store,
      { ...config, seed },
      { paths: hostPaths(), onEvents: view.onEvents, name: seedRunName(experiment, seed) },
    );
    const stop = stopOnSignals(run, context);
    const outcome = await run.outcome;
    stop.release();
    view.end();
    for (const warning of trackerWarnings(store, run.runId)) context.say(warning);
    if (outcome.error !== null) throw outcome.error;
    const left = seeds.slice(done + 1);
    const isDone = outcome.state === 'done';
    if (isDone && (left.length === 0 || !stop.asked())) continue;
    const ended = isDone ? 'is done' : `was ${outcome.state}; resume it with --resume`;
    context.say(`Run ${outcome.runId} (seed ${seed}) ${ended}.${untrained(left, experiment)}`);
    process.exitCode = 130;
    return;
  }
  report(seedGroupSummary(store, experiment), context);
}

function untrained(seeds: readonly number[], experiment: string): string {
  if (seeds.length === 0) return '';
  const which = seeds.length === 1 ? `Seed ${seeds} was` : `Seeds ${seeds.join(', ')} were`;
  return ` ${which} not trained: use --seeds ${seeds} --experiment ${JSON.stringify(experiment)} to train the rest.`;
}

function report(group: SeedGroupSummary, context: CommandContext): void {
  const shown = ['reward', 'loss', 'kl', 'entropy', 'completions/diversity', 'check/reference_overlap'];
  const rows = shown.flatMap((name) => {
    const spread = group.metrics[name];
    if (spread === undefined) return [];
    const cells = [spread.mean, spread.std ?? Number.NaN, spread.min, spread.max].map((value) => value.toPrecision(4));
    return [[name, spread.n, ...cells]];
  });
  for (const line of tableLines(['at the end', 'seeds', 'mean', 'std', 'min', 'max'], rows)) context.print(line);
  const { other_settings: others } = group;
  if (others.length > 0)
    context.say(
      `${others.length === 1 ? 'Seed' : 'Seeds'} ${others.join(', ')} of ${group.experiment} had other settings and ${others.length === 1 ? "isn't" : "aren't"} counted. --experiment names another experiment.`,
    );
  context.out({ ...group, workspace: context.workspace.root });
}

function seedsOf(list: string): number[] {
  const seeds = list.split(',').map((part) => wholeNumber('--seeds', part.trim(), 0));
  if (new Set(seeds).size === seeds.length) return seeds;
  throw inputError('BAD_OPTION', `Expected --seeds to list each seed once, got "${list}"`);
}
