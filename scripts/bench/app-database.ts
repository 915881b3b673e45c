/**
 * Creates a workspace as full as after years of use, and times the app's queries on it: 200 runs, 10^6 metric rows,
 * 10^5 samples. One of the runs has 10^5 steps.
 *
 *   node scripts/bench/app-database.ts FOLDER        creates the workspace if needed, then measures
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomStream } from '../../main/random.ts';
import type { Sample } from '../../main/samples/sample.ts';
import { lineage, runDetail, runHistory } from '../../main/services/runs/history.ts';
import { removalOf } from '../../main/services/runs/removal.ts';
import { createRun, finishRun } from '../../main/services/runs/runs.ts';
import { findSamples } from '../../main/services/runs/samples/find.ts';
import { runVerdict } from '../../main/services/runs/verdict/run-verdict.ts';
import { sparklines } from '../../main/services/runs/watched-series.ts';
import { readCorpus } from '../../main/services/texts/index.ts';
import { openStore, type Store } from '../../main/store/index.ts';
import type { SampleFilter, SampleOrder } from '../../main/store/sample-finder.ts';
import { splitWords } from '../../main/text/words.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import { METRICS } from './metric-names.ts';

const RUNS = 200;
/** Metrics of the one long run. */
const LONG_STEPS = 100_000;
const LONG_METRICS = ['reward', 'reward_std', 'loss', 'step_time'];
/** Metrics of the other runs. */
const STEPS = 86;
const SAMPLED_STEPS = 4;
const GROUPS = 8;
const GROUP_SIZE = 16;

/** Words with a realistic distribution, as in the bundled texts: few are common. */
const WORDS = readCorpus([join(import.meta.dirname, '../../datasets/source_texts.json')]).flatMap(({ text }) =>
  splitWords(text),
);

const { next } = randomStream(7, 1);

const folder = process.argv[2];
if (folder === undefined) throw new Error('Expected the folder of the workspace to create, got none');
const file = join(folder, 'braid.db');
if (!existsSync(file)) fill(folder, file);
measure(file);

function fill(root: string, database: string): void {
  mkdirSync(root, { recursive: true });
  const store = openStore(database);
  const started = performance.now();
  for (let i = 0; i < RUNS; i++) addRun(store, i === RUNS / 2);
  store.close();
  process.stdout.write(`created in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}

function addRun(store: Store, long: boolean): void {
  const steps = long ? LONG_STEPS : STEPS;
  const metrics = long ? LONG_METRICS : METRICS;
  const config = parseConfig({
    dataset: 'datasets/10words.jsonl',
    max_steps: steps,
    learning_rate: 1e-5 * (1 + next()),
  });
  const { runId, folder: place } = createRun(store, config);
  for (let from = 1; from <= steps; from += 1000) {
    store.transaction(() => {
      for (let step = from; step < from + 1000 && step <= steps; step++) {
        store.metrics.record(
          runId,
          step,
          Object.fromEntries(metrics.map((name) => [name, madeUp(name, step / steps)])),
        );
      }
    });
  }
  store.transaction(() => {
    const every = Math.floor(steps / SAMPLED_STEPS);
    for (let step = every; step <= steps; step += every) {
      if (!long) store.samples.record(runId, step, samplesOf(step / steps));
      store.checkpoints.record(runId, step, join(place, `checkpoint-${step}`), 'periodic');
      store.evaluations.add(evaluationOf(runId, step, step / steps), []);
    }
    store.runs.advance(runId, steps);
  });
  finishRun(store, runId, 'done');
}

function madeUp(name: string, progress: number): number {
  return name === 'reward' ? 0.5 + 0.45 * (1 - Math.exp(-4 * progress)) + 0.06 * (next() - 0.5) : next();
}

function samplesOf(progress: number): readonly Sample[] {
  const text = (count: number): string =>
    Array.from({ length: count }, () => WORDS[Math.floor(next() * WORDS.length)] ?? 'word').join(' ');
  return Array.from({ length: GROUPS * GROUP_SIZE }, (_, i) => {
    const reward = Math.min(1, 0.5 + progress * next());
    return {
      recordId: `10w-train-${String(Math.floor(i / GROUP_SIZE)).padStart(4, '0')}`,
      group: Math.floor(i / GROUP_SIZE),
      index: i % GROUP_SIZE,
      prompt: text(60),
      target: text(20),
      completion: text(20),
      reward,
      advantage: reward - 0.5,
      components: { alignment: reward },
      length: 24,
      terminated: true,
    };
  });
}

function evaluationOf(runId: number, step: number, progress: number) {
  return {
    runId,
    checkpointId: null,
    model: 'tiny',
    dataset: 'datasets/10words.test.jsonl',
    step,
    n: 32,
    mean: 0.5 + 0.45 * progress,
    low: 0.45,
    high: 1,
    exactMatch: progress / 2,
    metrics: {},
    duringTraining: true,
  };
}

function measure(database: string): void {
  const store = openStore(database);
  const ids = store.runs.list().map(({ id }) => id);
  const long = ids[RUNS / 2 - 1] ?? 1;
  const [newest = 1] = ids;
  const chart = (runId: number, names: readonly string[], from: number, to: number) => () =>
    store.metrics.bucketsOf(runId, names, 500, { from, to });
  const found =
    (filter: SampleFilter, order: SampleOrder = 'newest') =>
    () =>
      findSamples(store, filter, { order, limit: 100, offset: 0 });
  const rows: readonly (readonly [string, () => unknown])[] = [
    ['list of 200 runs', () => runHistory(store, { limit: 200 })],
    ['sparklines of 30 runs', () => sparklines(store, ids.slice(0, 30), 'reward', 48)],
    ['run page', () => runDetail(store, newest)],
    ['run page, 10^5 steps', () => runDetail(store, long)],
    ['lineage', () => lineage(store, newest)],
    ['verdict', () => runVerdict(store, newest)],
    ['verdict, 10^5 steps', () => runVerdict(store, long)],
    ['one chart', chart(newest, ['reward'], 1, STEPS)],
    ['one chart, 10^5 steps', chart(long, ['reward'], 1, LONG_STEPS)],
    ['the same, zoomed to 5,000 steps', chart(long, ['reward'], 40_000, 44_999)],
    ['live: the newest 10 steps', () => store.metrics.after(newest, STEPS - 10, 2000)],
    ['steps with samples', () => store.samples.steps(newest)],
    ['completions of a step', () => store.samples.byStep(newest, Math.floor(STEPS / SAMPLED_STEPS))],
    ['rewards of all steps of a run', () => store.samples.rewardsByStep(newest)],
    ['search in completions', found({ words: 'river bri' })],
    ['count of these', () => store.sampleFinder.count({ words: 'river bri' })],
    ['the lowest that are not exact', found({ exact: false }, 'lowest')],
    ['by a component', found({ component: { name: 'alignment', below: 0.5 } })],
    ['what removing a run would delete', () => removalOf(store, newest)],
  ];
  process.stdout.write('| query | best ms | median ms |\n|---|---|---|\n');
  for (const [name, work] of rows) process.stdout.write(`| ${name} | ${timed(work)} |\n`);
  store.close();
}

/** Shortest and median of eleven calls, in milliseconds. */
function timed(work: () => unknown): string {
  const times = Array.from({ length: 11 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  return [times[0] ?? 0, times[5] ?? 0].map((ms) => ms.toPrecision(3)).join(' | ');
}
