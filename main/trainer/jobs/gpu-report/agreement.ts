/** Whether the GPU computes what the processor does: a small model with an adapter, sampled, trained on and stepped. */
import * as tf from '@tensorflow/tfjs-core';
import { generate } from '../../../model/generate.ts';
import { adapterParameters, createAdapter, disposeAdapter } from '../../../model/lora.ts';
import { disposeModel } from '../../../model/model.ts';
import { UNFILTERED } from '../../../model/sampler.ts';
import { closeWasmBackend, openWasmBackend } from '../../../tensor/wasm/boot.ts';
import type { WeightPrecision } from '../../../tensor/weights.ts';
import { disposeBatch, uploadGroups } from '../../batching/packed-batch.ts';
import { AdamW } from '../../optim/optimizer.ts';
import { completionLogps, lossAndGradients } from '../../policy/policy.ts';
import { makeModel, SHAPES } from './shapes.ts';
import { LORA } from './timed-work.ts';

/** One quantity on both, and how far apart it may be. */
export interface Agreement {
  readonly what: string;
  readonly difference: number;
  readonly bound: number;
}

/** Those of the GPU's rounding: sums in float32 in another order; a step of Adam's is as large for the smallest gradient. */
const BOUNDS = { tokens: 0, logps: 1e-4, gradients: 1e-3, stepped: 1e-3 } as const;

const PROMPTS = [
  [5, 17, 300, 42, 8],
  [400, 3, 77],
] as const;
const NEW_TOKENS = 8;
const LEARNING_RATE = 1e-3;

interface Quantities {
  readonly tokens: readonly number[];
  readonly logps: Float32Array;
  readonly gradients: Float32Array;
  readonly stepped: Float32Array;
}

/** Computes on the processor and on the current backend, which is current again afterwards. */
export async function compareWithProcessor(
  kernelsFile: string,
  precisions: readonly WeightPrecision[],
): Promise<readonly Agreement[]> {
  const gpu = tf.getBackend();
  const ours = precisions.map((precision) => compute(precision));
  const runtime = await openWasmBackend({ threads: 1, kernelsFile });
  try {
    // The processor's backend has no weights of 16 bits: it has the same numbers in 32.
    const theirs = precisions.map((precision) => compute(precision === 'stored' ? 'float32' : precision));
    return precisions.flatMap((precision, i) => compare(nameOf(precision), ours[i], theirs[i]));
  } finally {
    await closeWasmBackend(runtime);
    await tf.setBackend(gpu);
  }
}

const nameOf = (precision: WeightPrecision): string => (precision === 'stored' ? 'bfloat16' : precision);

function compare(name: string, ours: Quantities | undefined, theirs: Quantities | undefined): Agreement[] {
  if (ours === undefined || theirs === undefined) throw new Error('Expected quantities of each precision');
  const norm = distance(theirs.gradients, new Float32Array(theirs.gradients.length));
  const line = (what: string, difference: number, bound: number): Agreement => ({
    what: `${what}, ${name} weights`,
    difference,
    bound,
  });
  const others = ours.tokens.filter((token, i) => token !== theirs.tokens[i]).length;
  return [
    line('greedy tokens that differ', others, BOUNDS.tokens),
    line('log-probabilities', largest(ours.logps, theirs.logps), BOUNDS.logps),
    line('gradients, of their norm', distance(ours.gradients, theirs.gradients) / norm, BOUNDS.gradients),
    line('log-probabilities after a step', largest(ours.stepped, theirs.stepped), BOUNDS.stepped),
  ];
}

const largest = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? Number.NaN))), 0);

const distance = (a: Float32Array, b: Float32Array): number =>
  Math.sqrt(a.reduce((sum, value, i) => sum + (value - (b[i] ?? Number.NaN)) ** 2, 0));

function compute(precision: WeightPrecision): Quantities {
  const [tiny] = SHAPES;
  if (tiny === undefined) throw new Error('Expected a shape');
  const model = makeModel(tiny, 32, precision);
  const adapter = createAdapter(model, LORA, 1);
  const parameters = adapterParameters(adapter);
  const groups = PROMPTS.map((promptIds, i) => ({
    promptIds,
    completions: [
      [9, 31 + i, 200, 7],
      [12 + i, 90],
    ],
  }));
  const batch = uploadGroups(groups);
  const config = { adam_beta1: 0.9, adam_beta2: 0.999, adam_epsilon: 1e-8, weight_decay: 0.01, max_grad_norm: 1 };
  const optimizer = new AdamW(parameters, config);
  const logpsOf = (): Float32Array =>
    // A copy: on wasm it is a view of memory that is used again.
    tf.tidy(() =>
      Float32Array.from(completionLogps({ model, adapter }, batch, 1, { checkpointing: true }).logps.dataSync()),
    );
  try {
    const tokens = generate(model, adapter, PROMPTS, {
      numGenerations: 1,
      maxNewTokens: NEW_TOKENS,
      eosTokenIds: [],
      coordinates: [1],
      temperature: 0,
      ...UNFILTERED,
    }).flatMap(({ ids }) => ids);
    const logps = logpsOf();
    const loss = (): tf.Scalar => tf.sum(completionLogps({ model, adapter }, batch, 1, { checkpointing: true }).logps);
    const { value, grads } = lossAndGradients(loss, parameters);
    const gradients = Float32Array.from(grads.flatMap((grad) => [...grad.dataSync()]));
    optimizer.update(Object.fromEntries(parameters.map(({ name }, i) => [name, grads[i] as tf.Tensor])), LEARNING_RATE);
    tf.dispose([value, ...grads]);
    return { tokens, logps, gradients, stepped: logpsOf() };
  } finally {
    optimizer.dispose();
    disposeBatch(batch);
    disposeAdapter(adapter);
    disposeModel(model);
  }
}
