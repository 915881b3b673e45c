/**
 * Holds one GRPO step on a server of the Tinker protocol against the same step here, from the server's initial adapter
 * and on the server's completions:
 *   node scripts/checks/engine-step.ts http://127.0.0.1:8000 BASE_MODEL MODEL_FOLDER DATASET
 * Prints the largest differences of log-probabilities, loss, gradient norm and the adapter's tensors. The folder holds
 * the weights that the server has; with other weights, or in 16 bits there, the differences are large.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { readDataset } from '../../main/services/datasets/index.ts';
import { openTask } from '../../main/tasks/index.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import { microBatches, planBatches } from '../../main/trainer/batching/batching.ts';
import type { ScoredGeneration } from '../../main/trainer/batching/generation.ts';
import { startOfPrompts } from '../../main/trainer/batching/prompt-stream.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';
import type { CheckpointFile, Engine } from '../../main/trainer/engine/engine.ts';
import { openLocalEngine } from '../../main/trainer/local/local-engine.ts';
import { openSession } from '../../main/trainer/local/session.ts';
import { generateAndScore } from '../../main/trainer/loops/next-generation.ts';
import { openPhases } from '../../main/trainer/monitor/phases.ts';
import type { TrainerStart } from '../../main/trainer/protocol/start.ts';
import type { Stage } from '../../main/trainer/stage/stage.ts';
import { openRemote } from '../../main/trainer/tinker/open-remote.ts';

const [url, baseModel, model, dataset] = process.argv.slice(2);
if (url === undefined || baseModel === undefined || model === undefined || dataset === undefined) {
  process.stderr.write('Expected ADDRESS BASE_MODEL MODEL_FOLDER DATASET\n');
  process.exit(2);
}

const LEARNING_RATE = 1e-3;
const root = mkdtempSync(join(tmpdir(), 'braid-step-'));
const config = parseConfig({
  engine: 'check',
  dataset: resolve(dataset),
  model: resolve(model),
  use_peft: true,
  lora_r: 8,
  lora_alpha: 32,
  num_generations: 4,
  per_device_train_batch_size: 8,
  learning_rate: LEARNING_RATE,
  max_grad_norm: 0,
});
const start: TrainerStart = {
  kind: 'start',
  task: 'interleave',
  rewardWorker: '',
  config,
  modelFolder: resolve(model),
  evalRecords: [],
  records: readDataset(resolve(dataset), openTask('interleave', '')).slice(0, 8),
  outputDir: root,
  resumeFrom: null,
  estimate: null,
  kernelsFile: join(import.meta.dirname, '../../out/kernels/kernels.wasm'),
};

/** A checkpoint's files as a folder. */
function written(name: string, files: readonly CheckpointFile[]): string {
  const folder = join(root, name);
  mkdirSync(folder);
  for (const [file, content] of files)
    writeFileSync(join(folder, file), typeof content === 'string' ? content : bytesOf(content));
  return folder;
}

function bytesOf(content: Uint8Array | Iterable<Uint8Array>): Uint8Array {
  return content instanceof Uint8Array ? content : Buffer.concat([...content]);
}

function adapterIn(folder: string): ReadonlyMap<string, Float32Array> {
  const file = openSafetensors(join(folder, 'adapter_model.safetensors'));
  const tensors = new Map([...file.entries.keys()].sort().map((name) => [name, file.read(name)]));
  file.close();
  return tensors;
}

/** Log-probabilities before, one step, and after. */
async function oneStep(stage: Stage, engine: Engine, generation: ScoredGeneration) {
  const plan = planBatches(stage.config, stage.records.length);
  const before = await engine.logps(generation, plan, 'policy');
  let loss = 0;
  for (const micro of microBatches(plan, 0))
    loss += (await engine.policyLoss(stage.config, plan, generation, micro)).loss;
  const { gradNorm } = await engine.step(LEARNING_RATE);
  if (gradNorm === null) throw new Error('Expected a gradient norm');
  const after = await engine.logps(generation, plan, 'policy');
  return { before, loss, gradNorm, after, files: await engine.save(1) };
}

function farthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? Number.NaN))), 0);
}

function farthestRows(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  return Math.max(...a.map((row, i) => farthest(row, b[i] ?? [])));
}

const quiet = { phases: openPhases(), emit: () => undefined, addTokens: () => undefined, addGroups: () => undefined };
const backend = await openBackend({ backend: 'wasm', threads: 0, kernelsFile: start.kernelsFile });
const engine = { name: 'check', url, baseModel, key: process.env.BRAID_ENGINE_KEY ?? null };
const remote = await openRemote(start, { ...engine, allowPlain: false, prices: null });
try {
  const plan = planBatches(remote.stage.config, remote.stage.records.length);
  const { generation } = await generateAndScore(remote.stage, remote.engine, plan, 0, startOfPrompts, quiet);
  const from = written('initial', await remote.engine.save(0));
  const there = await oneStep(remote.stage, remote.engine, generation);
  const session = openSession({ ...start, config: { ...config, engine: null, from_checkpoint: from } });
  const here = await oneStep(session, openLocalEngine(session), generation);
  const [initial, mine, theirs] = [
    adapterIn(from),
    adapterIn(written('here', here.files)),
    adapterIn(written('there', there.files)),
  ];
  const differences: number[] = [];
  let moved = 0;
  for (const [name, values] of theirs) {
    moved = Math.max(moved, farthest(values, initial.get(name) ?? []));
    const own = mine.get(name) ?? [];
    differences.push(...Array.from(values, (value, i) => Math.abs(value - (own[i] ?? Number.NaN))));
  }
  const share = (limit: number): number => differences.filter((value) => !(value <= limit)).length / differences.length;
  const tokens = generation.completions.reduce((sum, { ids }) => sum + ids.length, 0);
  const report = {
    rule: remote.rule,
    tokens,
    logps_before: farthestRows(there.before, here.before),
    loss_here: here.loss,
    loss: Math.abs(there.loss - here.loss),
    grad_norm_here: here.gradNorm,
    grad_norm: Math.abs(there.gradNorm / here.gradNorm - 1),
    logps_after: farthestRows(there.after, here.after),
    logps_moved: farthestRows(here.before, here.after),
    adapter: {
      tensors: theirs.size,
      same_names: [...theirs.keys()].join() === [...mine.keys()].join(),
      numbers: differences.length,
      moved,
      largest: differences.reduce((a, b) => Math.max(a, b), 0),
      mean: differences.reduce((sum, value) => sum + value, 0) / differences.length,
      share_above: { '1e-6': share(1e-6), '1e-5': share(1e-5), '1e-4': share(1e-4) },
    },
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  session.dispose();
} finally {
  await remote.close();
  await backend.close();
  rmSync(root, { recursive: true, force: true });
}
