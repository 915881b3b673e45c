/** `braid train --seeds`: one experiment, one run per seed, and the spread over them. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../errors.ts';
import { type SeedGroupSummary, seedGroupSummary, seedRunName } from '../services/runs/seed-groups.ts';
import { startTraining } from '../services/training/training.ts';
import type { Store } from '../store/index.ts';
import { hostPaths } from './host-paths.ts';
import { type CommandContext, wholeNumber } from './shared.ts';
import { tableLines } from './table.ts';
import { type TrainOptions, trainConfig } from './train-config.ts';
import { followTraining, stopOnSignals } from './training-view.ts';

/** Trains the seeds in turn; a run that doesn't finish ends the command. */
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
  for (const seed of seeds) {
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
    if (outcome.error !== null) throw outcome.error;
    if (outcome.state === 'done') continue;
    context.say(
      `Run ${outcome.runId} (seed ${seed}) was ${outcome.state}; resume it with --resume, then train the other seeds.`,
    );
    process.exitCode = 130;
    return;
  }
  report(seedGroupSummary(store, experiment), context);
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
  context.out({ ...group, workspace: context.workspace.root });
}

function seedsOf(list: string): number[] {
  const seeds = list.split(',').map((part) => wholeNumber('--seeds', part.trim(), 0));
  if (new Set(seeds).size === seeds.length) return seeds;
  throw inputError('BAD_OPTION', `Expected --seeds to list each seed once, got "${list}"`);
}
