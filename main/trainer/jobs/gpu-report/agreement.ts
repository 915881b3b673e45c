/** Whether the GPU computes what the processor does: a small model with an adapter, sampled, trained on and stepped. */
import * as tf from '@tensorflow/tfjs-core';
import { generate } from '../../../model/generate.ts';
import { adapterParameters, createAdapter, disposeAdapter } from '../../../model/lora.ts';
import { disposeModel } from '../../../model/model.ts';
import { UNFILTERED } from '../../../model/sampler.ts';
import { type ComputeDtype, computedIn } from '../../../tensor/compute-dtype.ts';
import { closeWasmBackend, openWasmBackend } from '../../../tensor/wasm/boot.ts';
import type { WeightPrecision } from '../../../tensor/weights.ts';
import { disposeBatch, uploadGroups } from '../../batching/packed-batch.ts';
import { AdamW } from '../../optim/optimizer.ts';
import { completionLogps, lossAndGradients } from '../../policy/policy.ts';
import { COMPARED, makeModel } from './shapes.ts';
import { LORA } from './timed-work.ts';

/** One quantity on both, and how far apart it may be. */
export interface Agreement {
  readonly what: string;
  readonly difference: number;
  readonly bound: number;
}

/** How far apart the quantities of a kind may be. */
interface Bounds extends Readonly<Record<'logps' | 'gradients' | 'stepped', number>> {
  /** Of factors of eleven bits, the largest score may be another's. */
  readonly tokens: number | null;
}

/** Those of rounding: of sums in another order, or of factors; a step of Adam's is as large for the smallest gradient. */
const BOUNDS: Readonly<Record<ComputeDtype, Bounds>> = {
  float32: { tokens: 0, logps: 1e-4, gradients: 1e-3, stepped: 1e-3 },
  bfloat16: { tokens: null, logps: 2e-3, gradients: 5e-3, stepped: 1e-2 },
};

/** What is compared: weights, and what products are computed in. */
export interface Compared {
  readonly precision: WeightPrecision;
  readonly computed: ComputeDtype;
}

const PROMPTS = [
  [5, 17, 300, 42, 8],
  [400, 3, 77],
] as const;
/** Tokens of completions: together so many that matrix units take their products. */
const counted = (count: number, first: number): number[] => Array.from({ length: count }, (_, i) => first + 7 * i);
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
  cases: readonly Compared[],
): Promise<readonly Agreement[]> {
  const gpu = tf.getBackend();
  const ours = cases.map(({ precision, computed }) => computedIn(computed, () => compute(precision)));
  const runtime = await openWasmBackend({ threads: 1, kernelsFile });
  try {
    // The processor's backend has no weights of 16 bits: it has the same numbers in 32.
    const theirs = cases.map(({ precision }) => compute(precision === 'stored' ? 'float32' : precision));
    return cases.flatMap((one, i) => compare(one, ours[i], theirs[i]));
  } finally {
    await closeWasmBackend(runtime);
    await tf.setBackend(gpu);
  }
}

function compare(
  { precision, computed }: Compared,
  ours: Quantities | undefined,
  theirs: Quantities | undefined,
): Agreement[] {
  if (ours === undefined || theirs === undefined) throw new Error('Expected quantities of each case');
  const norm = distance(theirs.gradients, new Float32Array(theirs.gradients.length));
  const weights = `${precision === 'stored' ? 'bfloat16' : precision} weights`;
  const line = (what: string, difference: number, bound: number): Agreement => ({
    what: `${what}, ${weights}${computed === 'bfloat16' ? ', computed in bfloat16' : ''}`,
    difference,
    bound,
  });
  const bounds = BOUNDS[computed];
  const others = ours.tokens.filter((token, i) => token !== theirs.tokens[i]).length;
  return [
    ...(bounds.tokens !== null ? [line('greedy tokens that differ', others, bounds.tokens)] : []),
    line('log-probabilities', largest(ours.logps, theirs.logps), bounds.logps),
    line('gradients, of their norm', distance(ours.gradients, theirs.gradients) / norm, bounds.gradients),
    line('log-probabilities after a step', largest(ours.stepped, theirs.stepped), bounds.stepped),
  ];
}

const largest = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? Number.NaN))), 0);

const distance = (a: Float32Array, b: Float32Array): number =>
  Math.sqrt(a.reduce((sum, value, i) => sum + (value - (b[i] ?? Number.NaN)) ** 2, 0));

function compute(precision: WeightPrecision): Quantities {
  const model = makeModel(COMPARED, 64, precision);
  const adapter = createAdapter(model, LORA, 1);
  const parameters = adapterParameters(adapter);
  const groups = PROMPTS.map((promptIds, i) => ({
    promptIds,
    completions: [counted(30, 9 + i), counted(24, 200 + i)],
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
