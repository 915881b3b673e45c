/**
 * The curriculum experiment on the bundled tiny model: from the same start, jumps to far longer texts, and a curriculum
 * that climbs to 100 words stage by stage. Writes docs/story.md from the figures of all seeds in docs/story/.
 *
 * node scripts/story.ts [--seed S] [--json] [--steps N] [--learning-rate R] [--workspace DIR] [--stages 10,25,50,100] [--jumps 50,100,500]
 *   [--beyond 200,500] [--no-page]: `beyond` are lengths that are only measured; `no-page` leaves docs/ as it is.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../main/commands/host-paths.ts';
import { readPreset } from '../main/services/config/presets.ts';
import { generateDataset, writeDataset } from '../main/services/datasets/index.ts';
import { evaluateModels } from '../main/services/evaluation/evaluate.ts';
import { bundledTextFiles } from '../main/services/texts/bundled.ts';
import { readCorpus } from '../main/services/texts/index.ts';
import { startTraining } from '../main/services/training/training.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore } from '../main/store/index.ts';
import { parseConfig } from '../main/trainer/config.ts';
import { type Jump, type Measured, type Stage, type Story, storyPage } from './story/page.ts';

/** Held-out pairs at a length; the long ones take long. */
const TEST_PAIRS = new Map([
  [200, 16],
  [500, 8],
]);
/** A jump has the steps of a stage, and fewer where one step takes a minute. */
const JUMP_STEPS = new Map([[500, 8]]);
/** Completions of a step at a length whose 128 would not end within the hour. */
const JUMP_COMPLETIONS = new Map([[500, 32]]);

const list = (given: string): number[] => (given === '' ? [] : given.split(',').map(Number));
const { values: options } = parseArgs({
  options: {
    workspace: { type: 'string' },
    seed: { type: 'string', default: '42' },
    steps: { type: 'string', default: '60' },
    'learning-rate': { type: 'string', default: '2e-4' },
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
const stepsAStage = Number(options.steps);
const workspace = openWorkspace({ workspace: options.workspace ?? mkdtempSync(join(tmpdir(), 'braid-story-')) });
const store = openStore(workspace.database);
const texts = readCorpus(bundledTextFiles(paths.datasets));
const lengths = [...new Set([...stageWords, ...jumpWords, ...beyond])].sort((a, b) => a - b);
const datasets = new Map(lengths.map((words) => [words, makeDataset(words)]));

const began = performance.now();
const base = await heldOut('tiny', lengths);
say(`base: ${JSON.stringify(base)}`);
const jumps: Jump[] = [];
for (const words of jumpWords) jumps.push(await jump(words));
const stages: Stage[] = [];
for (const words of stageWords) stages.push(await climb(words, stages.at(-1) ?? null));
const story: Story = {
  seed,
  base,
  stages,
  jumps,
  seconds: Math.round((performance.now() - began) / 1000),
};
store.close();
if (!options['no-page']) writePage();
if (options.json) process.stdout.write(`${JSON.stringify(story)}\n`);

/** One rung of the ladder, from the one before. */
async function climb(words: number, before: Stage | null): Promise<Stage> {
  const trained = await train(words, before?.checkpoint ?? null, stepsAStage, {});
  const last = words === stageWords.at(-1);
  const measured = await heldOut(trained.checkpoint, last ? lengths : stageWords);
  const stage = { words, from: before === null ? 'base' : `${before.words} words`, ...trained, held_out: measured };
  say(JSON.stringify(stage));
  return stage;
}

/** The same length from the base, at once. */
async function jump(words: number): Promise<Jump> {
  const completions = JUMP_COMPLETIONS.get(words);
  const fields = completions === undefined ? {} : { per_device_train_batch_size: completions };
  const trained = await train(words, null, JUMP_STEPS.get(words) ?? stepsAStage, fields);
  const made = { words, ...trained, held_out: await heldOut(trained.checkpoint, [words]) };
  say(JSON.stringify(made));
  return made;
}

async function train(words: number, from: string | null, steps: number, fields: object) {
  const start = performance.now();
  const learning_rate = Number(options['learning-rate']);
  const own = { max_steps: steps, save_steps: steps, learning_rate, seed };
  const settings = { ...readPreset('interleave-tiny', paths), ...own, ...fields };
  const config = parseConfig({ ...settings, dataset: datasets.get(words)?.train, from_checkpoint: from }, 'story');
  const run = startTraining(store, config, { paths });
  const outcome = await run.outcome;
  if (outcome.error !== null || outcome.checkpoint === null) throw outcome.error ?? new Error('no checkpoint');
  const series = (metric: string): [number, number] => {
    const points = store.metrics.series(run.runId, metric).map(({ value }) => value);
    const mean = (part: readonly number[]): number => part.reduce((a, b) => a + b, 0) / part.length;
    return [mean(points.slice(0, 5)), mean(points.slice(-5))];
  };
  const warning = store.events.ofRun(run.runId).find(({ severity }) => severity === 'warning');
  return {
    steps,
    reward: series('reward'),
    dead: series('groups/dead'),
    verdict: warning === undefined ? null : `step ${warning.step}: ${warning.message}`,
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
  const test = TEST_PAIRS.get(words) ?? 64;
  const made = generateDataset({ texts, words, seed, train: words > 200 ? 64 : 512, test });
  if (made.kind === 'shortage') throw new Error(made.reason);
  return writeDataset(join(workspace.datasets, `${words}words.jsonl`), made);
}

/** Keeps this seed's figures in docs/story/ and writes the page from all that are there. */
function writePage(): void {
  const folder = join(root, 'docs/story');
  mkdirSync(folder, { recursive: true });
  const told = [...stages, ...jumps].map(({ checkpoint: _, ...rest }) => rest);
  const kept = { ...story, stages: told.slice(0, stages.length), jumps: told.slice(stages.length) };
  writeFileSync(join(folder, `seed-${seed}.json`), `${JSON.stringify(kept, null, 2)}\n`);
  const stories = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Story);
  writeFileSync(join(root, 'docs/story.md'), storyPage(stories));
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
