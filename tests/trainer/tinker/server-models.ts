/** The models of the test server: adapters over one base, trained by this process. */
import { gzipSync } from 'node:zlib';
import * as tf from '@tensorflow/tfjs-core';
import { generate } from '../../../main/model/generate.ts';
import type { LoraWeights } from '../../../main/model/linear.ts';
import {
  type Adapter,
  adapterParameters,
  createAdapter,
  disposeAdapter,
  type LoraConfig,
} from '../../../main/model/lora.ts';
import type { Model } from '../../../main/model/model.ts';
import type { PromptGroup } from '../../../main/model/pack.ts';
import { encodeAdapter } from '../../../main/model/peft.ts';
import { disposeBatch, uploadGroups } from '../../../main/trainer/batching/packed-batch.ts';
import { keepByName, withBatch } from '../../../main/trainer/local/micro-batch-loss.ts';
import { AdamW, accumulateGradients, type Gradients } from '../../../main/trainer/optim/optimizer.ts';
import { completionLogps, hostLogps, lossAndGradients } from '../../../main/trainer/policy/policy.ts';

/** `sum`: the protocol's; `skyrl-jax`: each sequence divided by its sum of weights, the whole by their number. */
export type ServerRule = 'sum' | 'mean' | 'skyrl-jax' | 'squared';

/** An error of the server: `now` is answered at once, others by the future. */
export class Refused extends Error {
  readonly status: number;
  readonly now: boolean;
  constructor(status: number, message: string, now = false) {
    super(message);
    this.status = status;
    this.now = now;
  }
}

type Weights = ReadonlyMap<string, Float32Array>;
interface Trained {
  readonly adapter: Adapter;
  readonly seqIds: Set<number>;
  optimizer: AdamW | null;
  gradients: Gradients | null;
  sequences: number;
  steps: number;
}
interface Saved {
  readonly weights: Weights;
  readonly moments: Readonly<Record<string, Float32Array>> | null;
}
interface WireDatum {
  readonly model_input: { readonly chunks: readonly { readonly tokens: number[] }[] };
  readonly loss_fn_inputs: Readonly<Record<'target_tokens' | 'weights', { readonly data: number[] }>>;
}
type Body = Readonly<Record<string, unknown>>;

const TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];

export class RemoteModels {
  readonly #model: Model;
  readonly #rule: ServerRule;
  readonly #seed: number | null;
  readonly #trained = new Map<string, Trained>();
  readonly #saved = new Map<string, Saved>();
  #made = 0;

  constructor(model: Model, rule: ServerRule, seed: number | null) {
    this.#model = model;
    this.#rule = rule;
    this.#seed = seed;
  }

  /** Names of what lies on the server's disk. */
  get saved(): readonly string[] {
    return [...this.#saved.keys()];
  }

  get loaded(): number {
    return this.#trained.size;
  }

  nextId(): string {
    return `model_${this.#made++}`;
  }

  create(model_id: string, { lora_config }: Body): object {
    const { rank, seed } = lora_config as { readonly rank: number; readonly seed: number };
    const lora: LoraConfig = { r: rank, alpha: 32, targetModules: TARGETS, useRslora: false };
    const adapter = createAdapter(this.#model, lora, this.#seed ?? seed);
    const fresh = { optimizer: null, gradients: null, sequences: 0, steps: 0 };
    this.#trained.set(model_id, { adapter, seqIds: new Set(), ...fresh });
    return { model_id, base_model: 'tiny', lora_config };
  }

  work(route: string, body: Body): unknown {
    if (route === 'asample') return this.#sample(body);
    const id = String(body.model_id);
    const trained = this.#trained.get(id);
    if (trained === undefined) throw new Refused(404, 'Model not found', true);
    if (route !== 'unload_model') checkNumber(trained, body.seq_id);
    switch (route) {
      case 'forward':
        return this.#pass(trained, body.forward_input as { readonly data: WireDatum[] }, false);
      case 'forward_backward':
        return this.#pass(trained, body.forward_backward_input as { readonly data: WireDatum[] }, true);
      case 'optim_step':
        return this.#step(trained, body.adam_params as Record<string, number>);
      case 'save_weights':
      case 'save_weights_for_sampler':
        return this.#save(id, trained, route, String(body.path));
      case 'load_weights':
        return this.#load(trained, String(body.path), body.optimizer === true);
      case 'unload_model':
        dispose(trained);
        this.#trained.delete(id);
        return { model_id: id, status: 'unloaded' };
      default:
        throw new Refused(404, 'Not Found', true);
    }
  }

  /** `id`: with its kind, such as "weights/step-2". */
  drop(model: string, id: string): void {
    this.#saved.delete(`tinker://${model}/${id}`);
  }

  archive(model: string, id: string): Buffer | null {
    const saved = this.#saved.get(`tinker://${model}/sampler_weights/${id}`);
    const trained = this.#trained.get(model);
    if (saved === undefined || trained === undefined) return null;
    const adapter = withWeights(trained.adapter, saved.weights);
    const files = encodeAdapter(adapter, 'tiny');
    disposeAdapter(adapter);
    // SkyRL's configuration names no target modules.
    const config = JSON.stringify({ ...JSON.parse(String(files['adapter_config.json'])), target_modules: null });
    return gzipSync(tar({ ...files, 'adapter_config.json': config }));
  }

  forget(): void {
    for (const trained of this.#trained.values()) dispose(trained);
    this.#trained.clear();
  }

  dispose(): void {
    this.forget();
  }

  #pass(trained: Trained, { data }: { readonly data: readonly WireDatum[] }, learns: boolean): object {
    const groups = data.map(groupOf);
    const weights = data.map(({ loss_fn_inputs }) => loss_fn_inputs.weights.data);
    const policy = { model: this.#model, adapter: trained.adapter };
    const { columns, logps } = withBatch(groups, undefined, (batch) => ({
      columns: batch.columns,
      ...hostLogps(policy, batch, 1),
    }));
    if (learns) {
      const parameters = adapterParameters(trained.adapter);
      const factors = weights.map((row) => this.#factors(row));
      const batch = uploadGroups(groups);
      const more = tf.tidy(() => {
        const flat = Float32Array.from(
          { length: data.length * columns },
          (_, i) => factors[Math.floor(i / columns)]?.[i % columns] ?? 0,
        );
        const matrix = tf.tensor2d(flat, [data.length, columns]);
        const loss = (): tf.Scalar => tf.neg(tf.sum(tf.mul(completionLogps(policy, batch, 1).logps, matrix)));
        return keepByName(parameters, lossAndGradients(loss, parameters).grads);
      });
      disposeBatch(batch);
      trained.gradients = accumulateGradients(trained.gradients, more);
      trained.sequences += data.length;
    }
    return {
      loss_fn_output_type: 'scalar',
      metrics: {},
      loss_fn_outputs: data.map(({ loss_fn_inputs }, row) => {
        const length = loss_fn_inputs.target_tokens.data.length;
        const own = Array.from(logps.subarray(row * columns, row * columns + length));
        return { logprobs: { data: own, dtype: 'float32', shape: [length] } };
      }),
    };
  }

  #factors(weights: readonly number[]): readonly number[] {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    if (this.#rule === 'squared') return weights.map((weight) => weight ** 2);
    return this.#rule === 'skyrl-jax' ? weights.map((weight) => weight / Math.max(sum, 1e-9)) : weights;
  }

  #step(trained: Trained, adam: Readonly<Record<string, number>>): object {
    const { learning_rate = 1e-4, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weight_decay = 0, grad_clip_norm = 0 } = adam;
    const parameters = adapterParameters(trained.adapter);
    trained.optimizer ??= new AdamW(parameters, {
      adam_beta1: beta1,
      adam_beta2: beta2,
      adam_epsilon: eps,
      weight_decay,
      max_grad_norm: grad_clip_norm,
    });
    const count = this.#rule === 'mean' || this.#rule === 'skyrl-jax' ? Math.max(1, trained.sequences) : 1;
    const zeros = (): Gradients =>
      Object.fromEntries(parameters.map(({ name, value }) => [name, tf.zerosLike(value)] as const));
    const sums = trained.gradients ?? zeros();
    const means = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, tf.div(sum, count)] as const));
    const { gradNorm } = trained.optimizer.update(means, learning_rate);
    tf.dispose([sums, means]);
    trained.gradients = null;
    trained.sequences = 0;
    trained.steps++;
    return { metrics: { 'skyrl.ai/grad_norm': gradNorm, 'skyrl.ai/learning_rate': learning_rate } };
  }

  #save(id: string, { adapter, optimizer }: Trained, route: string, name: string): object {
    const path = `tinker://${id}/${route === 'save_weights' ? 'weights' : 'sampler_weights'}/${name}`;
    if (this.#saved.has(path)) throw new Refused(409, `Checkpoint '${name}' already exists for model '${id}'`, true);
    const moments = optimizer === null ? null : stateOf(optimizer);
    this.#saved.set(path, { weights: weightsOf(adapter), moments });
    return { path, type: route };
  }

  #load(trained: Trained, path: string, withMoments: boolean): object {
    if (trained.seqIds.size > 1) throw new Refused(400, 'LoadWeights is not permitted with seq_id 2', true);
    const saved = this.#saved.get(path);
    if (saved === undefined) throw new Refused(404, `Checkpoint not found: ${path}`, true);
    setWeights(trained.adapter, saved.weights);
    trained.optimizer?.dispose();
    trained.optimizer = null;
    // The moments are kept until the step says with which settings they are used.
    if (withMoments && saved.moments !== null) {
      const { moments } = saved;
      const parameters = adapterParameters(trained.adapter);
      trained.optimizer = new AdamW(parameters, {
        adam_beta1: 0.9,
        adam_beta2: 0.999,
        adam_epsilon: 1e-8,
        weight_decay: 0,
        max_grad_norm: 1,
      });
      trained.optimizer.importState(moments);
    }
    return { type: 'load_weights' };
  }

  #sample({ prompt, num_samples, sampling_params, model_path }: Body): object {
    const path = String(model_path);
    const saved = this.#saved.get(path);
    const trained = this.#trained.get(/^tinker:\/\/([^/]+)/.exec(path)?.[1] ?? '');
    if (saved === undefined || trained === undefined) throw new Refused(404, `Checkpoint not found: ${path}`, true);
    const params = sampling_params as Readonly<Record<string, number>> & { readonly stop: readonly number[] };
    const tokens = (prompt as WireDatum['model_input']).chunks.flatMap((chunk) => chunk.tokens);
    const adapter = withWeights(trained.adapter, saved.weights);
    const completions = generate(this.#model, adapter, [tokens], {
      numGenerations: Number(num_samples),
      maxNewTokens: params.max_tokens ?? 1,
      eosTokenIds: params.stop,
      temperature: params.temperature ?? 1,
      topK: Math.max(0, params.top_k ?? 0),
      topP: params.top_p ?? 1,
      minP: null,
      repetitionPenalty: 1,
      coordinates: [params.seed ?? 0],
    });
    const groups = [{ promptIds: tokens, completions: completions.map(({ ids }) => ids) }];
    const policy = { model: this.#model, adapter };
    const { columns, logps } = withBatch(groups, undefined, (batch) => ({
      columns: batch.columns,
      ...hostLogps(policy, batch, 1),
    }));
    disposeAdapter(adapter);
    return {
      sequences: completions.map(({ ids, terminated }, row) => ({
        tokens: ids,
        logprobs: Array.from(logps.subarray(row * columns, row * columns + ids.length)),
        stop_reason: terminated ? 'stop' : 'length',
      })),
    };
  }
}

function checkNumber({ seqIds }: Trained, given: unknown): void {
  const number = Number(given);
  if (seqIds.has(number)) throw new Refused(409, 'Training request sequence number was reused', true);
  if (number !== seqIds.size + 1) throw new Refused(400, `Expected seq_id ${seqIds.size + 1}, got ${number}`, true);
  seqIds.add(number);
}

/** The first token is the prompt: every target is predicted. */
function groupOf({ model_input, loss_fn_inputs }: WireDatum): PromptGroup {
  const input = model_input.chunks.flatMap(({ tokens }) => tokens);
  const targets = loss_fn_inputs.target_tokens.data;
  if (targets.length !== input.length || targets.slice(0, -1).some((id, i) => id !== input[i + 1]))
    throw new Refused(400, 'target_tokens must follow model_input');
  return { promptIds: input.slice(0, 1), completions: [targets] };
}

function weightsOf(adapter: Adapter): Weights {
  return new Map(adapterParameters(adapter).map(({ name, value }) => [name, value.dataSync<'float32'>().slice()]));
}

function setWeights(adapter: Adapter, weights: Weights): void {
  for (const parameter of adapterParameters(adapter)) {
    const { shape } = parameter.value;
    parameter.value.dispose();
    parameter.value = tf.keep(tf.tensor(weights.get(parameter.name) ?? [], shape, 'float32'));
  }
}

function withWeights({ config, modules }: Adapter, weights: Weights): Adapter {
  const copy = ({ name, value: { shape } }: LoraWeights['a']): LoraWeights['a'] => ({
    name,
    value: tf.tensor(weights.get(name) ?? [], shape, 'float32') as tf.Tensor2D,
  });
  return {
    config,
    modules: new Map([...modules].map(([name, { a, b, scaling }]) => [name, { a: copy(a), b: copy(b), scaling }])),
  };
}

function stateOf(optimizer: AdamW): Readonly<Record<string, Float32Array>> {
  return Object.fromEntries(
    optimizer
      .stateTensors()
      .map(({ name, pieces }) => [name, Float32Array.from([...pieces()].flatMap((piece) => [...piece]))]),
  );
}

function dispose({ adapter, optimizer, gradients }: Trained): void {
  disposeAdapter(adapter);
  optimizer?.dispose();
  tf.dispose(gradients ?? {});
}

/** A tar of files in a folder, as GNU tar writes it. */
export function tar(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const pieces = Object.entries(files).flatMap(([name, content]) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(`./${name}`, 0);
    header.write('0000644\0', 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('0', 156);
    return [header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...pieces, Buffer.alloc(1024)]);
}
