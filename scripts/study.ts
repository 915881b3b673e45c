/**
 * Which settings pay, on the bundled tiny model: each against the plain loop by the time to a held-out score of 0.95,
 * and a curriculum against training on long texts directly. Settings are fixed here beforehand. Every run's figures are
 * kept in docs/study/, and those that are there are not run again; docs/study.md is written from them.
 *
 * npm run study [-- --seeds 1,2,3,4,5 --only plain,greso --workspace DIR]
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../main/commands/host-paths.ts';
import { datasetFiles, generateCurriculum, mixStages, writeDataset } from '../main/services/datasets/index.ts';
import { bundledTextFiles } from '../main/services/texts/bundled.ts';
import { readCorpus } from '../main/services/texts/index.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore } from '../main/store/index.ts';
import { trainMeasured } from './measured-run.ts';
import { type Arm, arms } from './study/arms.ts';
import { type StudyRun, studyPage } from './study/page.ts';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3,4,5' },
    only: { type: 'string', default: arms.map(({ name }) => name).join(',') },
    workspace: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '..');
const paths = checkoutPaths(root);
const kept = join(root, 'docs/study');
mkdirSync(kept, { recursive: true });
const workspace = openWorkspace({ workspace: options.workspace ?? mkdtempSync(join(tmpdir(), 'braid-study-')) });
const store = openStore(workspace.database);
const texts = readCorpus(bundledTextFiles(paths.datasets));

// By seed first: an interrupted study has as many seeds of every arm.
for (const seed of options.seeds.split(',').map(Number)) {
  for (const arm of arms.filter(({ name }) => options.only.split(',').includes(name))) {
    const file = join(kept, `${arm.name}-seed-${seed}.json`);
    if (existsSync(file)) continue;
    const run = await runArm(arm, seed);
    writeFileSync(file, `${JSON.stringify(run)}\n`);
    process.stderr.write(`${arm.name}, seed ${seed}: ${run.heldOut.at(-1)?.mean.toFixed(3)}, ${run.seconds} s\n`);
  }
}
store.close();
const runs = readdirSync(kept).map((name) => JSON.parse(readFileSync(join(kept, name), 'utf8')) as StudyRun);
writeFileSync(join(root, 'docs/study.md'), studyPage(runs));

/** The stages of an arm one after the other, evaluated on held-out pairs of the length that is aimed at. */
async function runArm({ name, aim, stages }: Arm, seed: number): Promise<StudyRun> {
  const heldOut: StudyRun['heldOut'][number][] = [];
  let from: string | null = null;
  let [steps, seconds] = [0, 0];
  for (const { words, ...settings } of stages) {
    const dataset = datasetOf(words, seed);
    const fields = { ...settings, dataset, eval_dataset: datasetFiles(datasetOf([aim], seed)).test };
    const trained = await trainMeasured(store, paths, { ...fields, from_checkpoint: from, seed });
    heldOut.push(
      ...trained.heldOut.map(({ step, mean }) => ({
        step: steps + step,
        seconds: round(seconds + sum(trained.times.slice(0, step))),
        mean,
      })),
    );
    steps += trained.times.length;
    seconds += sum(trained.times);
    from = trained.checkpoint;
  }
  return { arm: name, seed, steps, seconds: round(seconds), heldOut };
}

/** The training file of one length, or of several together. */
function datasetOf(words: readonly number[], seed: number): string {
  const file = join(workspace.datasets, `${words.join('-')}words-seed-${seed}.jsonl`);
  if (existsSync(file)) return file;
  const made = generateCurriculum({ texts, stages: words, seed, train: Math.ceil(512 / words.length), test: 64 });
  const [dataset] = mixStages(made);
  if (dataset === undefined || dataset.kind === 'shortage') throw new Error(dataset?.reason ?? 'no dataset');
  return writeDataset(file, dataset).train;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
