/** Several seeds of one experiment as one group: runs started as `experiment/seed_42`, their mean and their spread. */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { variedSettings } from './varied-settings.ts';

/** A run of a group. */
export interface SeedRun {
  readonly runId: number;
  readonly seed: number;
  readonly state: RunRow['state'];
  readonly step: number;
}

/** A value over the seeds; field names as in `--json`. */
export interface Spread {
  readonly n: number;
  readonly mean: number;
  /** Over n − 1; null for a single seed. */
  readonly std: number | null;
  readonly min: number;
  readonly max: number;
}

export interface SeedGroup {
  readonly experiment: string;
  readonly runs: readonly SeedRun[];
}

export interface SeedGroupSummary extends SeedGroup {
  /** Over finished runs of the same settings: each metric's newest value across the seeds. */
  readonly metrics: Readonly<Record<string, Spread>>;
  /** Seeds whose finished runs had other settings and are left out. */
  readonly other_settings: readonly number[];
}

const NAME = /^(.+)\/seed_(\d+)$/;

/** Of an experiment or a sweep: in letters of any script. */
export const EXPERIMENT_NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ .-]*$/u;

/** The name of an experiment's run with one seed. */
export function seedRunName(experiment: string, seed: number): string {
  if (EXPERIMENT_NAME.test(experiment)) return `${experiment}/seed_${seed}`;
  throw inputError(
    'BAD_OPTION',
    `Expected an experiment's name of letters, digits, spaces, dots and dashes, got "${experiment}"`,
  );
}

/** All groups of these runs, in the order of their first run. For a repeated seed, its newest run counts. */
export function seedGroups(store: Store, counts: (run: RunRow) => boolean = () => true): SeedGroup[] {
  const groups = new Map<string, Map<number, SeedRun>>();
  for (const run of store.runs.list({}).toReversed()) {
    const [, experiment, seed] = NAME.exec(run.role) ?? [];
    if (experiment === undefined || !counts(run)) continue;
    const seeds = groups.get(experiment) ?? new Map<number, SeedRun>();
    seeds.set(Number(seed), { runId: run.id, seed: Number(seed), state: run.state, step: run.step });
    groups.set(experiment, seeds);
  }
  return [...groups].map(([experiment, seeds]) => ({
    experiment,
    runs: [...seeds.values()].sort((a, b) => a.seed - b.seed),
  }));
}

/** One group with the spread of every metric over its seeds. */
export function seedGroupSummary(store: Store, experiment: string): SeedGroupSummary {
  const group = seedGroups(store).find((candidate) => candidate.experiment === experiment);
  if (group === undefined) throw inputError('GROUP_UNKNOWN', `There are no runs of the experiment "${experiment}"`);
  const alike = finishedAlike(store, group.runs);
  const others = group.runs.filter((run) => run.state === 'done' && !alike.includes(run)).map(({ seed }) => seed);
  const values = new Map<string, number[]>();
  for (const { runId } of alike) {
    for (const [name, { value }] of Object.entries(store.metrics.latest(runId)))
      values.set(name, [...(values.get(name) ?? []), value]);
  }
  return {
    ...group,
    other_settings: others,
    metrics: Object.fromEntries([...values].map(([name, list]) => [name, spreadOf(list)])),
  };
}

/** Settings that may differ between seeds: they change where and how a run is computed and watched, or follow its seed. */
const FREE: ReadonlySet<string> = new Set<keyof TrainConfig>([
  'seed',
  'from_checkpoint',
  'backend',
  'threads',
  'engine',
  'activation_memory_mb',
  'gradient_checkpointing',
  'sample_steps',
  'save_steps',
  'save_total_limit',
  'logging_dir',
  'report_to',
  'project',
  'eval_steps',
  'pause_on_collapse',
  'collapse_patience',
]);

/**
 * The finished runs of a group with the settings of the newest of them: a name is kept while settings are changed, and a
 * mean over both would be of neither.
 */
export function finishedAlike(store: Store, runs: readonly SeedRun[]): readonly SeedRun[] {
  const done = runs.filter(({ state }) => state === 'done');
  const newest = Math.max(...done.map(({ runId }) => runId));
  const differing = (runId: number): readonly string[] => variedSettings(store, [newest, runId]).fields;
  return done.filter(({ runId }) => {
    const fields = differing(runId);
    // Trained whole, the checkpoint that a run starts from is its model.
    return fields.every((field) => FREE.has(field) || (field === 'model' && fields.includes('from_checkpoint')));
  });
}

/** Mean and spread of some values. */
export function spreadOf(values: readonly number[]): Spread {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    n,
    mean,
    std: n < 2 ? null : Math.sqrt(squares / (n - 1)),
    min: Math.min(...values),
    max: Math.max(...values),
  };
}
