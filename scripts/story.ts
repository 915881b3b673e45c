/**
 * The curriculum experiment on the bundled tiny model: from the same start, jumps to far longer texts, and a curriculum
 * that climbs to 100 words stage by stage. Writes its part of docs/results.md from the figures of all seeds in docs/story/, unless
 * some of them were measured with other weights or options than this run.
 *
 * node scripts/story.ts [--seed S] [--json] [--steps N] [--learning-rate R] [--workspace DIR] [--stages 10,25,50,100] [--jumps 50,100,500]
 *   [--beyond 200,500] [--no-page]: `learning-rate` is for all runs, otherwise stages of long texts have the smaller one
 *   of the app's curriculum; `beyond` are lengths that are only measured; `no-page` leaves docs/ as it is. Started again
 *   with the same `workspace`, it measures what it hasn't measured with the same settings yet.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../main/commands/host-paths.ts';
import { readPreset } from '../main/services/config/presets.ts';
import { defaultSteps } from '../main/services/curriculum/edit.ts';
import { longTextFields } from '../main/services/curriculum/long-texts.ts';
import { generateDataset, readDataset, writeDataset } from '../main/services/datasets/index.ts';
import { evaluateModels } from '../main/services/evaluation/evaluate.ts';
import { resolveModel } from '../main/services/models/resolve.ts';
import { bundledTextFiles } from '../main/services/texts/bundled.ts';
import { readCorpus } from '../main/services/texts/index.ts';
import { startTraining } from '../main/services/training/training.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore } from '../main/store/index.ts';
import { interleaveTask } from '../main/tasks/interleave/task.ts';
import { parseConfig, type TrainConfig } from '../main/trainer/config/config.ts';
import { writePart } from './generated-part.ts';
import { differenceBetween, readResults, weightsDigest } from './kept-results.ts';
import { type Jump, type Measured, type Stage, type Story, type StoryConditions, storyPage } from './story/page.ts';
import { openParts } from './story/parts.ts';
import { type JumpSettings, jumpSettings, testPairs, trainingPairs } from './story/settings.ts';
import { verdictOf } from './story/verdict.ts';

/** What a story starts from. */
interface Origin {
  readonly model_sha256: string;
  readonly seed: number;
  readonly backend: string;
}

/** A run, and what it has over the settings of all runs. */
interface Training {
  readonly words: number;
  readonly fields: JumpSettings & Pick<TrainConfig, 'learning_rate'>;
}

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
const PRESET = 'interleave-tiny';
const preset = readPreset(PRESET, paths);
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
const { collapse_patience, learning_rate } = settings;
const conditions: StoryConditions = {
  model_sha256: weightsDigest(resolveModel(settings.model, paths)),
  options: {
    stages: stageWords,
    jumps: jumpWords,
    beyond,
    steps: settings.max_steps,
    learning_rate,
    stage_learning_rates: stageWords.map((words) => stageFields(words).learning_rate),
    collapse_patience,
    settings: {
      preset,
      jumps: jumpWords.map((words) => jumpSettings(words, settings.max_steps)),
      held_out: lengths.map(testPairs),
    },
  },
};
const folder = placeOfResult();

const parts = openParts(join(workspace.root, 'story-parts.json'));
const origin: Origin = { model_sha256: conditions.model_sha256, seed, backend: await backendHere() };
const base = await heldOut('base', 'tiny', origin, lengths);
say(`base: ${JSON.stringify(base)}`);
const jumps: Jump[] = [];
for (const words of jumpWords) jumps.push(await jump(words));
const stages: Stage[] = [];
for (const words of stageWords) stages.push(await climb(words, stages));
const story: Story = {
  ...conditions,
  seed,
  base,
  stages,
  jumps,
  backend: [...new Set([...stages, ...jumps].map(({ backend }) => backend))].sort().join(' and '),
  seconds: Math.round(parts.seconds()),
};
store.close();
if (folder !== null) keep(folder);
if (options.json) process.stdout.write(`${JSON.stringify(story)}\n`);

/** What a stage has over the settings of all runs. */
function stageFields(words: number): Training['fields'] {
  const own = options['learning-rate'] === undefined ? longTextFields({ words, preset: PRESET, model: 'tiny' }) : {};
  return { max_steps: settings.max_steps, learning_rate: settings.learning_rate, ...own };
}

/** One rung of the ladder, from those before it. */
async function climb(words: number, before: readonly Stage[]): Promise<Stage> {
  const name = `stage of ${words}`;
  const last = before.at(-1);
  const ladder = [...before.map((stage) => stage.words), words];
  const key = trainingKey(ladder.map((length) => ({ words: length, fields: stageFields(length) })));
  const trained = await parts.measure(name, key, () => train(words, last?.checkpoint ?? null, stageFields(words)));
  const measured = words === stageWords.at(-1) ? lengths : stageWords;
  const held_out = await heldOut(name, trained.checkpoint, key, measured);
  const stage = { words, from: last === undefined ? 'base' : `${last.words} words`, ...trained, held_out };
  say(JSON.stringify(stage));
  return stage;
}

/** The same length from the base, at once. */
async function jump(words: number): Promise<Jump> {
  const name = `jump to ${words}`;
  const fields = { ...jumpSettings(words, settings.max_steps), learning_rate: settings.learning_rate };
  const key = trainingKey([{ words, fields }]);
  const trained = await parts.measure(name, key, () => train(words, null, fields));
  const made = { words, ...trained, held_out: await heldOut(name, trained.checkpoint, key, [words]) };
  say(JSON.stringify(made));
  return made;
}

/** All that decides what trainings one after the other end with. */
function trainingKey(trainings: readonly Training[]) {
  const each = trainings.map(({ words, fields }) => ({ words, pairs: trainingPairs(words), ...fields }));
  return { ...origin, preset, collapse_patience, trainings: each };
}

async function train(words: number, from: string | null, fields: Training['fields']) {
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
    backend: store.runs.get(run.runId)?.backend ?? 'unknown',
    session: parts.session,
    seconds: Math.round((performance.now() - start) / 1000),
  };
}

/** Mean alignment of greedy answers at each length; `key` is what decides the model in the folder. */
async function heldOut(name: string, folder: string, key: object, words: readonly number[]): Promise<Measured> {
  const scores: Record<string, number> = {};
  for (const length of words) {
    const settings = { ...key, held_out: { words: length, pairs: testPairs(length) } };
    scores[length] = await parts.measure(`${name}, held-out ${length}`, settings, () => evaluate(folder, length));
  }
  return scores;
}

async function evaluate(folder: string, words: number): Promise<number> {
  const dataset = datasets.get(words)?.test ?? '';
  const { results } = await evaluateModels({ models: [{ name: folder, folder }], dataset, paths });
  return Number((results[0]?.summary.mean_alignment ?? Number.NaN).toFixed(4));
}

/** What models are computed on here, as one answer shows: other backends give other last digits, and other runs. */
async function backendHere(): Promise<string> {
  const dataset = readDataset(datasets.get(Math.min(...lengths))?.test ?? '', interleaveTask).slice(0, 1);
  return (await evaluateModels({ models: [{ name: 'tiny', folder: 'tiny' }], dataset, paths })).backend;
}

function makeDataset(words: number) {
  const made = generateDataset({ texts, words, seed, train: trainingPairs(words), test: testPairs(words) });
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
    writePart(join(root, 'docs/results.md'), 'story', storyPage([...readResults<Story>(where).values()]).trim());
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
