/**
 * The remote engine: a server of the Tinker protocol samples, reads, differentiates and steps. Losses are computed here
 * in float64; what is sent are weights of the server's cross-entropy, -dC/dlogp of each completion token, so that its
 * gradient is the loss's. With one pass over a batch the ratio is 1 and dC/dlogp known without asking for
 * log-probabilities; otherwise they are asked for first. R rows, T longest completion.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { BraidError } from '../../errors.ts';
import { inParallel } from '../../in-parallel.ts';
import type { ModelConfig } from '../../model/config.ts';
import { isReinforcement, type TrainConfig, warmUpConfig } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import type { RemoteEngine } from '../protocol/remote.ts';
import { adapterFromArchive, archiveLimit } from './archive.ts';
import { checkedPass, checkedSamples } from './checks.ts';
import type { CallTimes, TinkerClient } from './client.ts';
import { removeState } from './drop-state.ts';
import { failedThere } from './errors.ts';
import { type GradientRule, scaleOf, weightsFor } from './gradient-rule.ts';
import { inChunks } from './in-chunks.ts';
import type { Meter } from './meter.ts';
import { gradNormOf, optimStep } from './probe.ts';
import { remotePolicyLoss } from './remote-loss.ts';
import { createModel, positiveInt, type RemoteModel } from './remote-model.ts';
import { type Row, rowsOfGeneration, rowsOfGroups, sequencesPerStep, tokensIn } from './rows.ts';
import { type SampleTurn, sampleTurns } from './sample-turns.ts';
import { ENGINE_FILE, encodeState, readState } from './state.ts';
import { anySchema, datum, passSchema, sampledSchema, savedSchema, wireTokens } from './wire.ts';

export interface TinkerEngineOptions {
  readonly client: TinkerClient;
  readonly session: string;
  readonly remote: RemoteEngine;
  readonly rule: GradientRule;
  readonly meter: Meter;
  readonly config: TrainConfig;
  readonly modelConfig: Pick<ModelConfig, 'vocabSize' | 'eosTokenIds'>;
  /** In tokens; a function, as the first completions may settle it. */
  readonly maxCompletionLength: () => number;
  /** Where the adapter's base lies here; checkpoints name it. */
  readonly modelFolder: string;
  readonly parameters: number;
  readonly trainable: number;
}

/** Samplings that are under way at a time. */
const IN_FLIGHT = 32;
const CROSS_ENTROPY = 'cross_entropy';

/** The engine of a run; its model is created at the first use, or from a checkpoint by `load`. */
export function openTinkerEngine(options: TinkerEngineOptions): Engine {
  const { client, remote, rule, meter, config, modelConfig } = options;
  const adapter = { baseModel: remote.baseModel, rank: config.lora_r, seed: config.seed };
  let made: Promise<RemoteModel> | null = null;
  let sampler: { readonly path: string; readonly id: string } | null = null;
  let samplers = 0;
  let sent = 0;
  const model = (): Promise<RemoteModel> => (made ??= createModel(client, options.session, adapter));

  /** The weights of now, in the form that is sampled from. */
  async function currentSampler(): Promise<{ readonly path: string; readonly id: string }> {
    if (sampler !== null) return sampler;
    const owner = await model();
    const id = `sampler-${samplers++}`;
    const { path } = await meter.time(async () => {
      const { value, times } = await owner.call('save_weights_for_sampler', { path: id }, savedSchema);
      return { value, times: [times] };
    });
    sampler = { path, id };
    return sampler;
  }

  /** After a step the sampler's weights are old; the server's disk needn't keep them. */
  async function dropSampler(): Promise<void> {
    const old = sampler;
    sampler = null;
    if (old === null) return;
    // Some servers keep them, and then that is how it is: only the disk there is fuller.
    await client.http
      .remove(`training_runs/${(await model()).id}/checkpoints/sampler_weights/${old.id}`)
      .catch(() => null);
  }

  /** Log-probabilities of rows; with weights, the gradient of the weighted cross-entropy is added there. */
  async function pass(rows: readonly Row[], weights: readonly ArrayLike<number>[] | null): Promise<Float32Array[]> {
    const owner = await model();
    const what = weights === null ? 'forward' : 'forward_backward';
    const data = rows.map(({ promptIds, ids }, i) => datum(promptIds, ids, weights?.[i] ?? ids.map(() => 0)));
    const chunks = inChunks(data.map((one, i) => ({ one, row: rows[i] })));
    const outputs = await meter.time(async () => {
      const pending = [];
      for (const chunk of chunks) {
        const input = { data: chunk.map(({ one }) => one), loss_fn: CROSS_ENTROPY };
        pending.push(owner.call(what, { [`${what}_input`]: input }, passSchema));
      }
      const called = await Promise.all(pending);
      return { value: called.map(({ value }) => value), times: called.map(({ times }) => times) };
    });
    meter.count({ [weights === null ? 'prefill' : 'train']: tokensIn(rows) });
    if (weights !== null) sent += rows.length;
    return outputs.flatMap((output, i) => {
      const sizes = (chunks[i] ?? []).map(({ row }) => ({
        prompt: row?.promptIds.length ?? 0,
        completion: row?.ids.length ?? 0,
      }));
      return checkedPass(what, output, sizes);
    });
  }

  let sequences = sequencesPerStep(config);
  const backward = (rows: readonly Row[], dlogp: readonly ArrayLike<number>[]): Promise<Float32Array[]> =>
    pass(
      rows,
      dlogp.map((one) => weightsFor(rule, one, sequences)),
    );

  async function load(path: string, optimizer: boolean): Promise<void> {
    const old = made;
    made = null;
    sampler = null;
    if (old !== null) await (await old).unload();
    const { call } = await model();
    try {
      await call('load_weights', { path, optimizer, type: 'load_weights' }, anySchema);
    } catch (error) {
      throw stateGone(error, path, remote);
    }
  }

  /** One turn of every prompt's completions. */
  const sampleTurn: SampleTurn = async (prompts, sampling, limits) => {
    const { path } = await currentSampler();
    const one = async (prompt: readonly number[], row: number) => {
      const maxTokens = limits[row] ?? sampling.maxNewTokens;
      const asked = { samples: sampling.numGenerations, maxTokens, ...modelConfig };
      const { value, times } = await client.call(
        'asample',
        {
          type: 'sample',
          prompt: wireTokens(prompt),
          num_samples: sampling.numGenerations,
          sampling_params: {
            max_tokens: maxTokens,
            temperature: sampling.temperature,
            top_p: sampling.topP,
            top_k: sampling.topK === 0 ? -1 : sampling.topK,
            seed: positiveInt(...sampling.coordinates, row),
            stop: [...modelConfig.eosTokenIds],
          },
          model_path: path,
        },
        sampledSchema,
      );
      sampling.onToken?.(0, 0);
      return { completions: checkedSamples(value, asked), times };
    };
    const groups = await meter.time(async () => {
      const all = await inParallel(prompts, IN_FLIGHT, one);
      return { value: all.map(({ completions }) => completions), times: all.map(({ times }) => times) };
    });
    meter.count({
      prefill: prompts.reduce((sum, { length }) => sum + length, 0),
      sample: groups.flat().reduce((sum, { ids }) => sum + ids.length, 0),
    });
    return groups.flat();
  };

  /** A server that is away isn't waited for as during the run. */
  async function withinTidyTime(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, sleep(client.http.tidyMs, undefined, { ref: false })]);
  }

  return {
    describe: () => ({
      name: remote.name,
      threads: 0,
      why: `${remote.baseModel} at ${client.http.url}`,
      parameters: options.parameters,
      trainable: options.trainable,
      vocabSize: modelConfig.vocabSize,
      hasReference: false,
    }),
    sample: (prompts, sampling) => sampleTurns(sampleTurn, prompts, sampling),
    logps: async (rows, plan, of) => {
      if (of === 'reference') throw new Error('Expected no reference with a remote engine');
      return pass(rowsOfGeneration(rows, plan.groupSize, 0, rows.completions.length), null);
    },
    policyLoss: (lossConfig, plan, generation, micro) => {
      sequences = sequencesPerStep(config);
      return remotePolicyLoss(
        { config: lossConfig, maxCompletionLength: options.maxCompletionLength() },
        plan,
        generation,
        micro,
        { forward: (rows) => pass(rows, null), backward },
      );
    },
    targetLoss: async (microBatches) => {
      const rows = rowsOfGroups(microBatches.flat());
      // A step of a warm-up has its own size.
      sequences = sequencesPerStep(isReinforcement(config.method) ? warmUpConfig(config) : config);
      const tokens = rows.reduce((sum, { ids }) => sum + ids.length, 0);
      const logps = await backward(
        rows,
        rows.map(({ ids }) => new Float64Array(ids.length).fill(-1 / tokens)),
      );
      return { loss: -sumOf(logps) / tokens, entropy: null };
    },
    backward: async (rows, groupSize, dlogp) => {
      const all = rowsOfGeneration(rows, groupSize, 0, rows.completions.length);
      await backward(
        all,
        all.map(({ ids }, i) => new Float64Array(ids.length).fill(dlogp[i] ?? 0)),
      );
    },
    step: async (learningRate) => {
      if (sent !== sequences && rule.averaged)
        throw new Error(`Expected ${sequences} sequences in the step, ${sent} were sent`);
      sent = 0;
      const scale = scaleOf(rule);
      const owner = await model();
      const stepped = await meter.time(async () => {
        const began = performance.now();
        const value = await optimStep(owner, {
          learning_rate: learningRate,
          beta1: config.adam_beta1,
          beta2: config.adam_beta2,
          // The gradient there has another scale: with epsilon in the same, Adam's step is the same.
          eps: config.adam_epsilon * scale,
          weight_decay: config.weight_decay,
          grad_clip_norm: config.max_grad_norm * scale,
        });
        const times: CallTimes[] = performance.now() > began ? [{ network: 0, queue: 0 }] : [];
        return { value, times };
      });
      await dropSampler();
      const norm = gradNormOf(stepped);
      return { gradNorm: norm === null ? null : norm / scale };
    },
    rebase: async () => {
      const { call } = await model();
      const { value } = await call('save_weights', { path: 'warmed-up', type: 'save_weights' }, savedSchema);
      await load(value.path, false);
      // Every checkpoint has a state of its own.
      await removeState(client.http, value.path).catch(() => null);
    },
    syncReference: () => undefined,
    save: async (step) => {
      const { id: modelId, call } = await model();
      const { id } = await currentSampler();
      const { value } = await call('save_weights', { path: `step-${step}`, type: 'save_weights' }, savedSchema);
      const limit = archiveLimit(options.trainable);
      const { status, bytes } = await client.http.download(`training_runs/${modelId}/checkpoints/${id}/archive`, limit);
      if (status !== 200) throw failedThere('archive', `${status} ${bytes.toString('utf8').slice(0, 300)}`);
      const { name: engine, url, baseModel: base_model } = remote;
      const state = { version: 1, engine, url, base_model, path: value.path } as const;
      return [...adapterFromArchive(bytes, options.modelFolder, limit), [ENGINE_FILE, encodeState(state)]];
    },
    load: async (folder) => load(readState(folder, remote).path, true),
    startFrom: async (folder) => load(readState(folder, remote).path, false),
    takeMetrics: () => meter.take(),
    dispose: async () => {
      // The run has ended whatever becomes of this; the server drops a session without heartbeats by itself.
      const tidied = dropSampler().then(async () => (await made)?.unload());
      await withinTidyTime(tidied.catch(() => undefined));
      client.close();
    },
  };
}

function sumOf(rows: readonly Float32Array[]): number {
  return rows.reduce((total, row) => row.reduce((sum, value) => sum + value, total), 0);
}

/** A checkpoint whose state the server has lost. */
function stateGone(error: unknown, path: string, { name }: RemoteEngine): unknown {
  const known =
    error instanceof BraidError && ['ENGINE_FAILED', 'ENGINE_SESSION_LOST', 'ENGINE_PROTOCOL'].includes(error.code);
  if (!known) return error;
  return new BraidError('ENGINE_STATE_GONE', `The engine "${name}" no longer has the state ${path}: ${error.message}`, {
    kind: 'input',
    cause: error,
    remedy:
      'The adapter of the checkpoint is here: start a new stage from it on this machine (engine null), or the run again on the engine.',
  });
}
