import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadModel } from '../../../main/model/load.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { openSafetensors } from '../../../main/model/safetensors.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { microBatches, planBatches } from '../../../main/trainer/batching/batching.ts';
import { startOfPrompts } from '../../../main/trainer/batching/prompt-stream.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import type { CheckpointFile, Engine } from '../../../main/trainer/engine/engine.ts';
import { openLocalEngine } from '../../../main/trainer/local/local-engine.ts';
import { openSession } from '../../../main/trainer/local/session.ts';
import { generateAndScore } from '../../../main/trainer/loops/next-generation.ts';
import { openPhases } from '../../../main/trainer/monitor/phases.ts';
import type { Stage } from '../../../main/trainer/stage/stage.ts';
import { openRemote } from '../../../main/trainer/tinker/open-remote.ts';
import { rewardWorker } from '../../tasks/sandbox/scoring.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { tinyRun } from '../run/tiny-run.ts';
import { HASTE, remoteConfig, remoteOf, remoteRun, remoteStart } from './remote-run.ts';
import type { ServerRule } from './server-models.ts';
import { openTinkerServer, type ServerOptions, type TinkerServer } from './tinker-server.ts';
import { openTinyBase } from './tiny-base.ts';

const { folder, base } = await openTinyBase();

async function withServer<T>(options: Partial<ServerOptions>, work: (server: TinkerServer) => Promise<T>): Promise<T> {
  const server = await openTinkerServer({ model: base, ...options });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

const steady: Partial<TrainConfig> = { learning_rate: 0.01, lr_scheduler_type: 'constant' };
const easy = tinyDataset({ words: 1, train: 6, test: 2, vocabulary: 3 });

/** One step by an engine on given completions, with the numbers of its loss. */
async function oneStep(
  stage: Stage,
  engine: Engine,
  config: Stage['config'],
  made: Awaited<ReturnType<typeof sampled>>,
) {
  const plan = planBatches(config, stage.records.length);
  const reports = [];
  for (const micro of microBatches(plan, 0)) reports.push(await engine.policyLoss(config, plan, made, micro));
  const logps = await engine.logps(made, plan, 'policy');
  const { gradNorm } = await engine.step(0.01);
  if (gradNorm === null) throw new Error('Expected a gradient norm');
  return { loss: reports.reduce((sum, { loss }) => sum + loss, 0), gradNorm, logps, files: await engine.save(1) };
}

const quietIo = { phases: openPhases(), emit: () => undefined, addTokens: () => undefined, addGroups: () => undefined };

async function sampled(stage: Stage, engine: Engine) {
  const plan = planBatches(stage.config, stage.records.length);
  return (await generateAndScore(stage, engine, plan, 0, startOfPrompts, quietIo)).generation;
}

function adapterIn(files: readonly CheckpointFile[]): ReadonlyMap<string, Float32Array> {
  const path = join(temporaryFolder(), 'adapter.safetensors');
  const content = files.find(([name]) => name === 'adapter_model.safetensors')?.[1];
  writeFileSync(path, content as Uint8Array);
  const file = openSafetensors(path);
  const read = new Map([...file.entries.keys()].sort().map((name) => [name, file.read(name)]));
  file.close();
  return read;
}

function farthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? Number.NaN))), 0);
}

const rules: readonly ServerRule[] = ['sum', 'mean', 'skyrl-jax'];
const losses: readonly Partial<TrainConfig>[] = [
  {},
  { loss_type: 'dr_grpo' },
  { loss_type: 'cispo', epsilon_high: 5 },
  { loss_type: 'grpo', importance_sampling_level: 'sequence' },
  { gradient_accumulation_steps: 2, mask_truncated_completions: true },
  { num_iterations: 2, loss_type: 'bnpo' },
  { vllm_importance_sampling_correction: true },
];

describe.each(rules)('one step on a server that applies weights as "%s"', (rule) => {
  it.each(losses)(
    'has the log-probabilities, gradient and adapter of the local engine: %j',
    async (config) => {
      await withServer({ rule, adapterSeed: 42 }, async (server) => {
        const settings = { server, model: folder, config: { max_grad_norm: 0, ...config } };
        const start = remoteStart(settings);
        const remote = await openRemote(start, remoteOf(server), HASTE);
        const session = openSession({ ...start, config: { ...start.config, engine: null } });
        const local = openLocalEngine(session);
        try {
          const generation = await sampled(remote.stage, remote.engine);
          const there = await oneStep(remote.stage, remote.engine, remote.stage.config, generation);
          const here = await oneStep(session, local, session.config, generation);
          expect(there.loss).toBeCloseTo(here.loss, 5);
          expect(Math.abs(there.gradNorm / here.gradNorm - 1)).toBeLessThan(2e-4);
          for (const [i, row] of there.logps.entries()) expect(farthest(row, here.logps[i] ?? [])).toBeLessThan(1e-5);
          const [mine, theirs] = [adapterIn(here.files), adapterIn(there.files)];
          expect([...theirs.keys()]).toEqual([...mine.keys()]);
          // Adam's first step is the learning rate in the gradient's direction; near 0 rounding decides the direction.
          for (const [name, values] of theirs) {
            const differences = Array.from(values, (value, i) => Math.abs(value - (mine.get(name)?.[i] ?? Number.NaN)));
            expect(differences.filter((value) => value > 1e-4).length / differences.length).toBeLessThan(0.02);
          }
        } finally {
          await local.dispose();
          session.dispose();
          await remote.close();
        }
      });
    },
    30_000,
  );
});

describe('a task with an environment', () => {
  it('is sampled one turn a request, and has the loss of the local engine', async () => {
    const task: FolderSource = {
      name: 'echo',
      folder: '/tasks/echo',
      definition: `title: Echo
fields: { word: text }
prompt: '<a> {word} <out>'
environment: { max_turns: 3, max_turn_tokens: 3 }
max_completion_length: 16
success_threshold: 1`,
      reward: `export const step = ({ record, messages, turn }) => ({
  message: record.word + ' ' + record.word, reward: messages[messages.length - 1].content.length / turn, done: turn === 3,
});`,
    };
    const parsing = openTask(task, '');
    const records = ['wa', 'wb'].map((word, i) => parsing.parseRecord({ word, id: String(i) }));
    await withServer({ rule: 'sum', adapterSeed: 42 }, async (server) => {
      const config = { max_grad_norm: 0, vllm_importance_sampling_correction: true };
      const start = { ...remoteStart({ server, model: folder, records, config }), task, rewardWorker };
      const remote = await openRemote(start, remoteOf(server), HASTE);
      const session = openSession({ ...start, config: { ...start.config, engine: null } });
      const local = openLocalEngine(session);
      try {
        const generation = await sampled(remote.stage, remote.engine);
        for (const { ids, toolMask = [], logps = [] } of generation.completions) {
          expect(toolMask.filter((one) => one === 0).length).toBeGreaterThanOrEqual(2);
          expect([toolMask.length, logps.length]).toEqual([ids.length, ids.length]);
        }
        const there = await oneStep(remote.stage, remote.engine, remote.stage.config, generation);
        const here = await oneStep(session, local, session.config, generation);
        expect(there.loss).toBeCloseTo(here.loss, 5);
        expect(Math.abs(there.gradNorm / here.gradNorm - 1)).toBeLessThan(2e-4);
      } finally {
        await local.dispose();
        session.dispose();
        await remote.close();
      }
    });
  }, 30_000);
});

describe('a run on a remote engine', () => {
  it('learns, counts its tokens and money, and leaves nothing behind on the server', async () => {
    const warm = await tinyRun({
      model: folder,
      records: easy.train,
      config: { ...steady, method: 'sft', use_peft: false, max_steps: 30 },
    });
    const warmed = loadModel(warm.checkpoint, 64);
    await withServer({ model: warmed, rule: 'skyrl-jax' }, async (server) => {
      const prices = { prefill: 1, sample: 2, train: 3 };
      const batch = { num_generations: 8, per_device_train_batch_size: 32, lora_r: 8 };
      const run = await remoteRun({
        server,
        model: warm.checkpoint,
        records: easy.train,
        evalRecords: easy.test,
        remote: { prices },
        config: { ...steady, ...batch, max_steps: 40, eval_steps: 20, max_grad_norm: 0 },
      });
      expect(run.rule).toEqual({ normalised: true, averaged: true });
      const reward = (from: number, to?: number): number => {
        const values = run.steps.slice(from, to).map((step) => step.reward ?? Number.NaN);
        return values.reduce((sum, value) => sum + value, 0) / values.length;
      };
      expect(reward(-5)).toBeGreaterThan(reward(0, 3) + 0.1);
      expect(run.events.filter(({ kind }) => kind === 'evaluation')).toHaveLength(3);
      const [first] = run.steps;
      for (const kind of ['prefill', 'sample', 'train']) expect(first?.[`engine/${kind}_tokens`]).toBeGreaterThan(0);
      const price = ['prefill', 'sample', 'train'].reduce(
        (sum, kind, i) => sum + ((i + 1) * (first?.[`engine/${kind}_tokens`] ?? 0)) / 1e6,
        0,
      );
      expect(first?.['engine/cost']).toBeCloseTo(price, 12);
      expect(first?.['sampling/sampling_logp_difference/max']).toBeLessThan(1e-5);
      const parts = ['network', 'queue', 'compute'].map((part) => first?.[`engine/${part}_seconds`] ?? Number.NaN);
      expect(parts.every((seconds) => seconds >= 0)).toBe(true);
      // One forward and backward pass a step: with one pass over a batch nothing is asked for in advance.
      expect(server.count('forward')).toBe(0);
      expect(server.models.loaded).toBe(0);
      expect(server.models.saved.filter((path) => path.includes('sampler_weights'))).toEqual([]);
    });
    disposeModel(warmed);
  }, 60_000);

  it.each(['sft', 'polychromic-sft', 'polychromic-grpo'] as const)(
    'trains by %s',
    async (method) => {
      for (const rule of rules) {
        await withServer({ rule }, async (server) => {
          const run = await remoteRun({
            server,
            model: folder,
            records: easy.train,
            config: { ...steady, method, max_steps: 15, polychromic_set_size: 2, polychromic_prompts: 2 },
          });
          expect(run.steps).toHaveLength(15);
          if (method === 'sft') expect(run.steps.at(-1)?.loss).toBeLessThan((run.steps[0]?.loss ?? 0) - 0.1);
          expect(run.steps.every(({ grad_norm: norm = Number.NaN }) => Number.isFinite(norm))).toBe(true);
        });
      }
    },
    60_000,
  );

  it('warms up by steps of their own size, then begins GRPO with a fresh optimiser, across a resume too', async () => {
    for (const rule of rules) {
      await withServer({ rule }, async (server) => {
        const warm = { warm_up_steps: 3, warm_up_learning_rate: 0.01, warm_up_batch_size: 3 } as const;
        const options = { server, model: folder, records: easy.train, config: { ...steady, ...warm, max_steps: 2 } };
        const whole = await remoteRun(options);
        expect(whole.steps.map((step) => 'reward' in step)).toEqual([false, false, false, true, true]);
        expect(whole.steps[2]?.['warm_up/loss']).toBeLessThan(whole.steps[0]?.['warm_up/loss'] ?? 0);
        expect(server.models.saved.filter((path) => path.includes('warmed-up'))).toEqual([]);
        // Adam's epsilon and clip are this server's own for moments that it has loaded, which its scaled gradients notice.
        for (const stopAfter of rule === 'skyrl-jax' ? [3] : [2, 3]) {
          const stopped = await remoteRun({ ...options, stopAfter });
          const resumed = await remoteRun({ ...options, resumeFrom: stopped.checkpoint });
          const numbers = (steps: typeof whole.steps) =>
            steps.map((step) => [step['warm_up/loss'], step.reward, step.grad_norm, step.learning_rate]);
          expect(numbers([...stopped.steps, ...resumed.steps])).toEqual(numbers(whole.steps));
        }
      });
    }
  }, 60_000);

  it('leaves checkpoints that a stage on this machine starts from', async () => {
    await withServer({}, async (server) => {
      const there = await remoteRun({ server, model: folder, config: { max_steps: 2 } });
      const adapter = JSON.parse(readFileSync(join(there.checkpoint, 'adapter_config.json'), 'utf8'));
      expect(adapter).toMatchObject({ r: 2, lora_alpha: 32, base_model_name_or_path: folder });
      const here = await tinyRun({
        model: folder,
        config: { ...remoteConfig, engine: null, from_checkpoint: there.checkpoint, max_steps: 1 },
      });
      expect(here.steps).toHaveLength(1);
    });
  }, 30_000);

  it('starts a stage from a checkpoint that lies on the same engine', async () => {
    await withServer({}, async (server) => {
      const first = await remoteRun({ server, model: folder, config: { max_steps: 2 } });
      await remoteRun({ server, model: folder, config: { max_steps: 1, from_checkpoint: first.checkpoint } });
      const load = server.seen.find(({ route }) => route === 'load_weights');
      expect(load?.body).toMatchObject({ path: 'tinker://model_1/weights/step-2', optimizer: false, seq_id: 1 });
    });
  }, 30_000);

  it('gives the same numbers when stopped and resumed as when it runs through', async () => {
    const config: Partial<TrainConfig> = { ...steady, max_steps: 5, num_iterations: 2 };
    const whole = await withServer({ adapterSeed: 1 }, (server) => remoteRun({ server, model: folder, config }));
    await withServer({ adapterSeed: 1 }, async (server) => {
      const stopped = await remoteRun({ server, model: folder, config, stopAfter: 3 });
      server.restart();
      const resumed = await remoteRun({ server, model: folder, config, resumeFrom: stopped.checkpoint });
      const rewards = (steps: readonly Readonly<Record<string, number>>[]) => steps.map(({ loss }) => loss?.toFixed(4));
      expect(rewards([...stopped.steps, ...resumed.steps])).toEqual(rewards(whole.steps));
    });
  }, 30_000);
});
