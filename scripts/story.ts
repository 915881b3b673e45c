/**
 * The curriculum experiment on the bundled tiny model: from the same start, jumps to far longer texts, and a curriculum
 * that climbs to 100 words stage by stage. Writes docs/story.md from the figures of all seeds in docs/story/, unless
 * some of them were measured with other weights or options than this run.
 *
 * node scripts/story.ts [--seed S] [--json] [--steps N] [--learning-rate R] [--workspace DIR] [--stages 10,25,50,100] [--jumps 50,100,500]
 *   [--beyond 200,500] [--no-page]: `beyond` are lengths that are only measured; `no-page` leaves docs/ as it is. One that
 *   was stopped continues with the part that it was in if it is started again with the same `workspace`.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../main/commands/host-paths.ts';
import { readPreset } from '../main/services/config/presets.ts';
import { defaultSteps } from '../main/services/curriculum/edit.ts';
import { generateDataset, writeDataset } from '../main/services/datasets/index.ts';
import { evaluateModels } from '../main/services/evaluation/evaluate.ts';
import { resolveModel } from '../main/services/models/resolve.ts';
import { bundledTextFiles } from '../main/services/texts/bundled.ts';
import { readCorpus } from '../main/services/texts/index.ts';
import { startTraining } from '../main/services/training/training.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore } from '../main/store/index.ts';
import { parseConfig, type TrainConfig } from '../main/trainer/config.ts';
import { differenceBetween, readResults, weightsDigest } from './kept-results.ts';
import { type Jump, type Measured, type Stage, type Story, type StoryConditions, storyPage } from './story/page.ts';
import { openParts } from './story/parts.ts';
import { jumpSettings, testPairs } from './story/settings.ts';
import { verdictOf } from './story/verdict.ts';

const list = (given: string): number[] => (given === '' ? [] : given.split(',').map(Number));
const { values: options } = parseArgs({
  options: {
    workspace: { type: 'string' },
    seed: { type: 'string', default: '42' },
    steps: { type: 'string', default: String(defaultSteps) },
    'learning-rate': { type: 'string' },
    json: { type: 'boolean', default: false },
    stages: { type: 'string', default: '10,25,50,100' },
    jumps: { type: 'string', default: '50,100,500' },
    beyond: { type: 'string', default: '200,500' },
    'no-page': { type: 'boolean', default: false },
  },
});
const [stageWords, jumpWords, beyond] = [list(options.stages), list(options.jumps), list(options.beyond)];
const root = join(import.meta.dirname, '..');
const paths = checkoutPaths(root);
const seed = Number(options.seed);
const preset = readPreset('interleave-tiny', paths);
const settings = parseConfig(
  {
    ...preset,
    ...(options['learning-rate'] !== undefined && { learning_rate: Number(options['learning-rate']) }),
    max_steps: Number(options.steps),
    seed,
  },
  'story',
);
const workspace = openWorkspace({ workspace: options.workspace ?? mkdtempSync(join(tmpdir(), 'braid-story-')) });
const store = openStore(workspace.database);
const texts = readCorpus(bundledTextFiles(paths.datasets));
const lengths = [...new Set([...stageWords, ...jumpWords, ...beyond])].sort((a, b) => a - b);
const datasets = new Map(lengths.map((words) => [words, makeDataset(words)]));
const conditions: StoryConditions = {
  model_sha256: weightsDigest(resolveModel(settings.model, paths)),
  options: {
    ...{ stages: stageWords, jumps: jumpWords, beyond, steps: settings.max_steps },
    ...{ learning_rate: settings.learning_rate, collapse_patience: settings.collapse_patience },
    settings: {
      preset,
      jumps: jumpWords.map((words) => jumpSettings(words, settings.max_steps)),
      held_out: lengths.map(testPairs),
    },
  },
};
const folder = placeOfResult();

const parts = openParts(join(workspace.root, 'story-parts.json'), conditions, seed);
const base = await parts.measure('base', () => heldOut('tiny', lengths));
say(`base: ${JSON.stringify(base)}`);
const jumps: Jump[] = [];
for (const words of jumpWords) jumps.push(await parts.measure(`jump to ${words}`, () => jump(words)));
const stages: Stage[] = [];
for (const words of stageWords) {
  const before = stages.at(-1) ?? null;
  stages.push(await parts.measure(`stage of ${words}`, () => climb(words, before)));
}
const story: Story = {
  ...conditions,
  seed,
  base,
  stages,
  jumps,
  backend: [...new Set(store.runs.list().flatMap(({ backend }) => backend ?? []))].sort().join(' and '),
  seconds: Math.round(parts.seconds()),
};
store.close();
if (folder !== null) keep(folder);
if (options.json) process.stdout.write(`${JSON.stringify(story)}\n`);

/** One rung of the ladder, from the one before. */
async function climb(words: number, before: Stage | null): Promise<Stage> {
  const trained = await train(words, before?.checkpoint ?? null, { max_steps: settings.max_steps });
  const last = words === stageWords.at(-1);
  const measured = await heldOut(trained.checkpoint, last ? lengths : stageWords);
  const stage = { words, from: before === null ? 'base' : `${before.words} words`, ...trained, held_out: measured };
  say(JSON.stringify(stage));
  return stage;
}

/** The same length from the base, at once. */
async function jump(words: number): Promise<Jump> {
  const trained = await train(words, null, jumpSettings(words, settings.max_steps));
  const made = { words, ...trained, held_out: await heldOut(trained.checkpoint, [words]) };
  say(JSON.stringify(made));
  return made;
}

async function train(words: number, from: string | null, fields: Pick<TrainConfig, 'max_steps'>) {
  const start = performance.now();
  const where = { dataset: datasets.get(words)?.train, from_checkpoint: from };
  const config = parseConfig({ ...settings, ...fields, save_steps: fields.max_steps, ...where }, 'story');
  const run = startTraining(store, config, { paths });
  const outcome = await run.outcome;
  if (outcome.error !== null || outcome.checkpoint === null) throw outcome.error ?? new Error('no checkpoint');
  const series = (metric: string): [number, number] => {
    const points = store.metrics.series(run.runId, metric).map(({ value }) => value);
    const mean = (part: readonly number[]): number => part.reduce((a, b) => a + b, 0) / part.length;
    return [mean(points.slice(0, 5)), mean(points.slice(-5))];
  };
  return {
    steps: config.max_steps,
    reward: series('reward'),
    dead: series('groups/dead'),
    verdict: verdictOf(store.events.ofRun(run.runId)),
    checkpoint: outcome.checkpoint,
    seconds: Math.round((performance.now() - start) / 1000),
  };
}

/** Mean alignment of greedy answers at each length. */
async function heldOut(folder: string, words: readonly number[]): Promise<Measured> {
  const scores: Record<string, number> = {};
  for (const length of words) {
    const dataset = datasets.get(length)?.test ?? '';
    const { results } = await evaluateModels({ models: [{ name: folder, folder }], dataset, paths });
    scores[length] = Number((results[0]?.summary.mean_alignment ?? Number.NaN).toFixed(4));
  }
  return scores;
}

function makeDataset(words: number) {
  const made = generateDataset({ texts, words, seed, train: words > 200 ? 64 : 512, test: testPairs(words) });
  if (made.kind === 'shortage') throw new Error(made.reason);
  return writeDataset(join(workspace.datasets, `${words}words.jsonl`), made);
}

/**
 * The folder for this seed's figures; null: nowhere. Figures of other weights or options in docs/story/ stay alone, as
 * nothing can be said of both together. Decided before the first run, as it takes long.
 */
function placeOfResult(): string | null {
  if (options['no-page']) return null;
  const docs = join(root, 'docs/story');
  for (const [name, kept] of readResults<Story>(docs)) {
    const difference = differenceBetween(conditions, kept);
    if (difference === null) continue;
    say(
      `docs/story/${name} differs from this run in ${difference}: docs/ stays as it is, and this seed's figures will be in ${workspace.root}. To begin a new table, delete docs/story/*.json.`,
    );
    return workspace.root;
  }
  return docs;
}

/** Keeps this seed's figures, and writes the page from all that are there if they are for docs/. */
function keep(where: string): void {
  mkdirSync(where, { recursive: true });
  const trained = [...stages, ...jumps].map(({ checkpoint: _, ...rest }) => rest);
  const kept = { ...story, stages: trained.slice(0, stages.length), jumps: trained.slice(stages.length) };
  writeFileSync(join(where, `seed-${seed}.json`), `${JSON.stringify(kept, null, 2)}\n`);
  if (where !== workspace.root)
    writeFileSync(join(root, 'docs/story.md'), storyPage([...readResults<Story>(where).values()]));
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
