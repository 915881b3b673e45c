/**
 * Seconds of steps until the bundled tiny model first has a held-out score, and with --trl those of TRL on the same
 * machine, one after the other: the same model, data, settings and reward (by `braid export --for trl`), and both
 * measured by the same evaluation of the same held-out pairs. Loading, evaluations and checkpoints are left out on both
 * sides.
 *
 * node scripts/bench/time-to-score.ts [--seeds 1,2,3] [--score 0.95] [--steps 90] [--backend wasm] [--trl PYTHON] [--json]
 *
 * PYTHON is an interpreter with torch, transformers, trl, peft and datasets; its TRL computes reference values in tests.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { readPreset } from '../../main/services/config/presets.ts';
import { generateDataset, writeDataset } from '../../main/services/datasets/index.ts';
import { evaluateModels } from '../../main/services/evaluation/evaluate.ts';
import { bundledTextFiles } from '../../main/services/texts/bundled.ts';
import { readCorpus } from '../../main/services/texts/index.ts';
import { exportForTrl, inputsOfConfig } from '../../main/services/trl/export.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config/config.ts';
import { trainMeasured } from '../measured-run.ts';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3' },
    score: { type: 'string', default: '0.95' },
    steps: { type: 'string', default: '90' },
    backend: { type: 'string', default: 'auto' },
    trl: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
/** Steps between two measurements. */
const EVERY = 2;
const RECORDS = 64;

/** When the score was first reached; null: never. */
interface Reached {
  readonly step: number;
  readonly seconds: number;
}

const root = join(import.meta.dirname, '../..');
const paths = checkoutPaths(root);
const goal = Number(options.score);
const folder = mkdtempSync(join(tmpdir(), 'braid-time-'));
const workspace = openWorkspace({ workspace: folder });
const store = openStore(workspace.database);
const texts = readCorpus(bundledTextFiles(paths.datasets));
const results: { seed: number; braid: Reached | null; trl: Reached | null }[] = [];
for (const seed of options.seeds.split(',').map(Number)) {
  const made = generateDataset({ texts, words: 10, seed, test: RECORDS });
  if (made.kind === 'shortage') throw new Error(made.reason);
  const files = writeDataset(join(workspace.datasets, `10words-seed${seed}.jsonl`), made);
  const common = { dataset: files.train, eval_dataset: files.test, seed, max_steps: Number(options.steps) };
  const braid = await timeBraid({ ...common, backend: options.backend as TrainConfig['backend'] });
  const trl = options.trl === undefined ? null : await timeTrl(options.trl, common, files.test);
  results.push({ seed, braid, trl });
  process.stderr.write(`seed ${seed}: Braid ${told(braid)}${options.trl === undefined ? '' : `, TRL ${told(trl)}`}\n`);
}
store.close();
const ratios = results.flatMap(({ braid, trl }) => (braid && trl ? [braid.seconds / trl.seconds] : []));
if (options.json) process.stdout.write(`${JSON.stringify({ score: goal, results, ratios })}\n`);
else if (ratios.length > 0)
  process.stdout.write(`Braid takes ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} of TRL's time\n`);

async function timeBraid(fields: Partial<TrainConfig>): Promise<Reached | null> {
  const { heldOut, times } = await trainMeasured(store, paths, { ...fields, eval_steps: EVERY, eval_records: RECORDS });
  return reached(
    heldOut.map(({ step, mean }) => [step, mean]),
    times,
  );
}

/** TRL writes a checkpoint every few steps, and they are measured afterwards by Braid's own evaluation. */
async function timeTrl(python: string, fields: Partial<TrainConfig>, test: string): Promise<Reached | null> {
  const own = { ...fields, save_steps: EVERY, save_total_limit: null, eval_steps: 0 };
  const config = parseConfig({ ...readPreset('interleave-tiny', paths), ...own }, 'TRL');
  const stage = exportForTrl(inputsOfConfig(store, config, paths), join(folder, `trl-seed${fields.seed}`), paths, root);
  execFileSync(python, ['train.py'], { cwd: stage.folder, stdio: 'pipe', maxBuffer: 2 ** 28 });
  const output = join(stage.folder, 'output');
  const state = JSON.parse(readFileSync(join(output, 'trainer_state.json'), 'utf8')) as {
    readonly log_history: readonly { readonly step_time?: number }[];
  };
  const scores: [step: number, score: number][] = [];
  const steps = readdirSync(output).flatMap((name) => /^checkpoint-(\d+)$/.exec(name)?.[1] ?? []);
  for (const step of steps.map(Number).sort((a, b) => a - b)) {
    const models = [{ name: 'trl', folder: join(output, `checkpoint-${step}`) }];
    const { results } = await evaluateModels({ models, dataset: test, paths });
    scores.push([step, results[0]?.summary.mean_alignment ?? Number.NaN]);
    if ((scores.at(-1)?.[1] ?? 0) >= goal) break;
  }
  return reached(
    scores,
    state.log_history.flatMap(({ step_time }) => step_time ?? []),
  );
}

function reached(
  scores: readonly (readonly [step: number, score: number])[],
  times: readonly number[],
): Reached | null {
  const first = scores.find(([, score]) => score >= goal);
  if (first === undefined) return null;
  return { step: first[0], seconds: times.slice(0, first[0]).reduce((sum, time) => sum + time, 0) };
}

function told(result: Reached | null): string {
  return result === null ? `not within ${options.steps} steps` : `${result.seconds.toFixed(1)} s, ${result.step} steps`;
}
