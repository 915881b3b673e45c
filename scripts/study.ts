/**
 * Which settings pay, on the bundled tiny model: each against the plain loop by the time to a held-out score of 0.95,
 * and a curriculum against training on long texts directly. Settings are fixed in study/arms.ts beforehand. Every run's
 * figures are kept in docs/study/ with the weights and the settings that they are of; those that are there are not run
 * again unless weights or settings have changed. The study's part of docs/results.md is
 * written from them.
 *
 * npm run study [-- --seeds 1,2,3,4,5 --only plain,greso --workspace DIR]
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../main/commands/host-paths.ts';
import { readPreset } from '../main/services/config/presets.ts';
import { datasetFiles, generateCurriculum, mixStages, writeDataset } from '../main/services/datasets/index.ts';
import { evaluateModels } from '../main/services/evaluation/evaluate.ts';
import { resolveModel } from '../main/services/models/resolve.ts';
import { bundledTextFiles } from '../main/services/texts/bundled.ts';
import { readCorpus } from '../main/services/texts/index.ts';
import { openWorkspace } from '../main/services/workspace/workspace.ts';
import { openStore } from '../main/store/index.ts';
import { writePart } from './generated-part.ts';
import { differenceBetween, readResults, weightsDigest } from './kept-results.ts';
import { type MeasuredRun, trainMeasured } from './measured-run.ts';
import { type Arm, type ArmStage, arms, CHECKPOINT_STEPS, conditionsOf, TEST_PAIRS } from './study/arms.ts';
import { studyPage } from './study/page.ts';
import { outdated, refusal, type StudyRun } from './study/results.ts';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3,4,5' },
    only: { type: 'string', default: arms.map(({ name }) => name).join(',') },
    workspace: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '..');
const paths = checkoutPaths(root);
const folder = join(root, 'docs/study');
mkdirSync(folder, { recursive: true });
const workspace = openWorkspace({ workspace: options.workspace ?? mkdtempSync(join(tmpdir(), 'braid-study-')) });
const store = openStore(workspace.database);
const texts = readCorpus(bundledTextFiles(paths.datasets));
const preset = readPreset('interleave-tiny', paths);
const model = resolveModel(String(preset.model), paths);
const weights = weightsDigest(model);
const conditions = (arm: Arm) => conditionsOf(arm, preset, weights);

// By seed first: an interrupted study has as many seeds of every arm.
for (const seed of options.seeds.split(',').map(Number)) {
  for (const arm of arms.filter(({ name }) => options.only.split(',').includes(name))) {
    const name = `${arm.name}-seed-${seed}.json`;
    const there = readResults<StudyRun>(folder).get(name);
    const difference = there === undefined ? 'not measured' : differenceBetween(conditions(arm), there);
    if (difference === null) continue;
    if (there !== undefined) say(`${name} is measured again, as it differs in ${difference}`);
    const run = await runArm(arm, seed);
    writeFileSync(join(folder, name), `${JSON.stringify(run)}\n`);
    say(`${arm.name}, seed ${seed}: ${run.heldOut.at(-1)?.mean.toFixed(3)}, ${run.seconds} s`);
  }
}
store.close();
const results = readResults<StudyRun>(folder);
const refused = refusal(outdated(results, arms, conditions));
if (refused === null) writePart(join(root, 'docs/results.md'), 'study', studyPage([...results.values()]).trim());
else {
  say(refused);
  process.exitCode = 1;
}

/** The stages of an arm one after the other, evaluated on held-out pairs of the length that is aimed at. */
async function runArm(arm: Arm, seed: number): Promise<StudyRun> {
  const test = datasetFiles(datasetOf([arm.aim], TEST_PAIRS, seed)).test;
  const byCheckpoints = arm.evaluated === 'by checkpoints';
  const heldOut: StudyRun['heldOut'][number][] = [];
  if (byCheckpoints) heldOut.push({ step: 0, seconds: 0, mean: (await scores([model], test))[0] ?? Number.NaN });
  const stages: StudyRun['stages'][number][] = [];
  let from: string | null = null;
  let [steps, seconds] = [0, 0];
  for (const { words, records, ...settings } of arm.stages) {
    const evaluation = byCheckpoints
      ? { eval_steps: 0, save_steps: CHECKPOINT_STEPS, save_total_limit: null }
      : { eval_dataset: test, eval_records: TEST_PAIRS };
    const fields = {
      ...settings,
      ...evaluation,
      dataset: datasetOf(words, records, seed),
      from_checkpoint: from,
      seed,
    };
    const trained = await trainMeasured(store, paths, fields);
    for (const { step, mean } of byCheckpoints ? await checkpointScores(trained, test) : trained.heldOut)
      heldOut.push({ step: steps + step, seconds: round(seconds + sum(trained.times.slice(0, step))), mean });
    stages.push({ words, max_completion_length: trained.maxCompletionLength });
    steps += trained.times.length;
    seconds += sum(trained.times);
    from = trained.checkpoint;
  }
  return { ...conditions(arm), arm: arm.name, seed, steps, seconds: round(seconds), stages, heldOut };
}

/** Scores of all checkpoints of a run; keeps only the last of them, as together they take gigabytes. */
async function checkpointScores({ checkpoints, checkpoint }: MeasuredRun, test: string) {
  const means = await scores(
    checkpoints.map(({ folder }) => folder),
    test,
  );
  for (const { folder } of checkpoints) if (folder !== checkpoint) rmSync(folder, { recursive: true, force: true });
  return checkpoints.map(({ step }, i) => ({ step, mean: means[i] ?? Number.NaN }));
}

/** Mean alignment of greedy answers to the held-out pairs. */
async function scores(folders: readonly string[], dataset: string): Promise<number[]> {
  const models = folders.map((folder) => ({ name: folder, folder }));
  const { results } = await evaluateModels({ models, dataset, paths });
  return results.map(({ summary }) => summary.mean_alignment);
}

/** The training file of one length, or of several together. */
function datasetOf(words: ArmStage['words'], records: number, seed: number): string {
  const file = join(workspace.datasets, `${words.join('-')}words-${records}-seed-${seed}.jsonl`);
  if (existsSync(file)) return file;
  const train = Math.ceil(records / words.length);
  const made = generateCurriculum({ texts, stages: words, seed, train, test: TEST_PAIRS });
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

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
