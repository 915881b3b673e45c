/** The methods over seeds: one comparison a seed, then each metric's mean ± interval over them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { readRegular } from '../../io/read-file.ts';
import type { Store } from '../../store/index.ts';
import { counted } from '../../text/format.ts';
import { compareReplies } from '../recipes/reply-demo.ts';
import { type ReplyRun, replyRuns } from '../recipes/reply-presets.ts';
import { newestCheckpoint } from '../runs/history.ts';
import { finishedAlike, seedGroups } from '../runs/seed-groups.ts';
import {
  isClearlyBest,
  leaderOf,
  leads,
  type SeedScores,
  type SettingScore,
  settingScore,
} from '../sweeps/statistics.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath, toStoredPath } from '../workspace/workspace.ts';
import { type ReplyHost, replyData } from './data.ts';
import { isReinforced } from './methods.ts';
import { runsOfData } from './own-runs.ts';
import type { ReportNumbers } from './report.ts';
import { experimentName, startPoints } from './start-points.ts';
import { overSeedsFolder, readReplyState, remember, type SeedReport } from './stored-state.ts';

/** Fewer have no interval. */
const FEWEST = 2;

export interface SeedModel extends SettingScore {
  readonly model: string;
}

export interface SeedRow extends Pick<ReportNumbers['rows'][number], 'name' | 'label' | 'better'> {
  /** Mean over seeds of each model's mean over posts. */
  readonly models: readonly SeedModel[];
  /** Significantly better than every other over the seeds; null: none, or neither direction is better. */
  readonly winner: string | null;
}

export interface SeedTable {
  readonly seeds: readonly number[];
  readonly at: number;
  readonly models: readonly string[];
  readonly rows: readonly SeedRow[];
}

type Places = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

/** Seeds with a finished run of every method, in order. */
export function wholeSeeds(app: Places): readonly number[] {
  const [first = new Map(), ...others] = finishedRuns(app).values();
  return [...first.keys()].filter((seed) => others.every((runs) => runs.has(seed))).toSorted((a, b) => a - b);
}

/** The finished run of each method and seed. */
function finishedRuns(app: Places): ReadonlyMap<ReplyRun, ReadonlyMap<number, number>> {
  const points = startPoints(app);
  const groups = seedGroups(app.store, runsOfData(app));
  return new Map(
    replyRuns.map((method) => {
      const experiment = experimentName(points, method, isReinforced(method));
      const runs = groups.find((group) => group.experiment === experiment)?.runs ?? [];
      return [method, new Map(finishedAlike(app.store, runs).map(({ seed, runId }) => [seed, runId]))];
    }),
  );
}

/** Compares the methods once for each seed that all have. The newest report is then that of the last seed. */
export function startSeedReports(app: ReplyHost): number {
  const seeds = wholeSeeds(app);
  if (seeds.length < FEWEST)
    throw inputError(
      'TOO_FEW_SEEDS',
      `Expected two seeds with a finished run of every method, got ${seeds.length}`,
      'Queue the methods with several seeds first: Experiments, Reply methods × seeds.',
    );
  const runs = finishedRuns(app);
  const { test: dataset } = replyData(app);
  const title = `Compare ${replyRuns.length} methods over ${counted(seeds.length, 'seed')}`;
  const { id } = app.jobs.start('replies', title, async ({ signal, progress }) => {
    const reports: SeedReport[] = [];
    for (const [place, seed] of seeds.entries()) {
      const models = [...runs].map(([name, of]) => ({ name, folder: requireCheckpoint(app.store, of.get(seed)) }));
      const output = overSeedsFolder(app.workspace, seed);
      await compareReplies(models, {
        dataset,
        paths: app.paths,
        seed,
        backend: 'auto',
        threads: 0,
        output,
        signal,
        onProgress: (done, total) =>
          progress({ done: place * total + done, total: seeds.length * total, unit: 'held-out posts' }),
      });
      reports.push({ seed, folder: toStoredPath(app.workspace.root, output) });
    }
    const at = app.store.now();
    const last = reports.at(-1);
    remember(app.store, { seedReports: { reports, at }, ...(last && { report: { folder: last.folder, at } }) });
    app.changes.publish('replies');
  });
  return id;
}

function requireCheckpoint(store: Store, runId: number | undefined): string {
  const checkpoint = runId === undefined ? undefined : newestCheckpoint(store, runId);
  if (checkpoint !== undefined) return checkpoint.path;
  throw inputError(
    'CHECKPOINT_MISSING',
    `Run ${runId} has no checkpoint any more`,
    'Train its seed again, or delete the run to compare the other seeds.',
  );
}

/** The table over seeds; null: not compared over seeds yet, or the reports are gone. */
export function seedTable({ store, workspace }: Pick<OpenWorkspace, 'store' | 'workspace'>): SeedTable | null {
  const { seedReports } = readReplyState(store);
  if (seedReports === null) return null;
  const read = seedReports.reports.flatMap(({ seed, folder }) => {
    const file = join(fromStoredPath(workspace.root, folder), 'comparison.json');
    return existsSync(file) ? [{ seed, numbers: JSON.parse(readRegular(file).toString('utf8')) as ReportNumbers }] : [];
  });
  const [first] = read;
  if (first === undefined || read.length < FEWEST) return null;
  const models = first.numbers.models.map(({ name }) => name);
  return {
    seeds: read.map(({ seed }) => seed),
    at: seedReports.at,
    models,
    rows: first.numbers.rows.map(({ name, label, better }) => rowOf({ name, label, better }, models, read)),
  };
}

function rowOf(
  row: Pick<SeedRow, 'name' | 'label' | 'better'>,
  models: readonly string[],
  read: readonly { readonly seed: number; readonly numbers: ReportNumbers }[],
): SeedRow {
  const scores = models.map((model): SeedScores => {
    const values = read.flatMap(({ seed, numbers }) => {
      const means = numbers.rows.find(({ name }) => name === row.name)?.means;
      const value = means?.find((one) => one.model === model)?.mean ?? null;
      return value === null ? [] : [[seed, value] as const];
    });
    return new Map(values);
  });
  return {
    ...row,
    models: scores.map((of, i) => ({ model: models[i] ?? '', ...settingScore(of) })),
    winner: row.better === null ? null : (models[winnerOf(scores, row.better) ?? -1] ?? null),
  };
}

/** The index of the one that is significantly better than every other; null: none is. */
function winnerOf(scores: readonly SeedScores[], better: 'higher' | 'lower'): number | null {
  const sign = better === 'higher' ? 1 : -1;
  const signed = scores.map((of) => new Map([...of].map(([seed, value]) => [seed, sign * value])));
  const lead = leaderOf(signed);
  const leader = lead === null ? undefined : signed[lead];
  if (leader === undefined) return null;
  const rivals = signed.filter((other) => other !== leader).map((other) => ({ leader, other }));
  return isClearlyBest(leads(rivals)) ? lead : null;
}
