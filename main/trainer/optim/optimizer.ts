/**
 * AdamW (Loshchilov & Hutter, arXiv 1711.05101) and clipping by global norm, as torch.optim.AdamW and
 * torch.nn.utils.clip_grad_norm_ compute them:
 *
 *   p ← p·(1 − lr·decay);  m ← β1·m + (1−β1)·g;  v ← β2·v + (1−β2)·g²
 *   p ← p − lr/(1−β1^t) · m / (√v/√(1−β2^t) + eps)
 *
 * A backend with an `AdamW` kernel updates param, m and v in place; the portable path creates new tensors.
 * Deviation: non-finite gradients leave everything unchanged (torch would write NaN into every weight); the run ends.
 */
import * as tf from '@tensorflow/tfjs-core';
import { BraidError } from '../../errors.ts';
import { tensorPieces } from '../../model/export.ts';
import type { Parameter } from '../../model/parameter.ts';
import type { NamedPieces } from '../../model/safetensors.ts';
import { type AdamWAttrs, LEAVE_UNCHANGED, MOST_SQUARES } from '../../tensor/ops/adamw.ts';
import { startRead } from '../../tensor/ops/pending-read.ts';
import type { TrainConfig } from '../config/config.ts';

export type OptimizerConfig = Pick<
  TrainConfig,
  'adam_beta1' | 'adam_beta2' | 'adam_epsilon' | 'weight_decay' | 'max_grad_norm'
>;

export type Gradients = Readonly<Record<string, tf.Tensor>>;

export interface UpdateReport {
  /** Global norm before clipping. */
  readonly gradNorm: number;
  /** False if the norm wasn't finite and nothing was changed. */
  readonly applied: boolean;
}

/** An exported state, wherever it is. */
export interface StoredState {
  /** The number of values under a name; undefined if there are none. */
  size(name: string): number | undefined;
  read(name: string): Float32Array;
}

interface Slot {
  readonly parameter: Parameter;
  readonly decay: number;
  m: tf.Tensor;
  v: tf.Tensor;
}

const STEP = 'step';
const FIRST = 'exp_avg.';
const SECOND = 'exp_avg_sq.';

/** Owns the moments of its parameters. `dispose` when done. */
export class AdamW {
  readonly #slots: readonly Slot[];
  readonly #config: OptimizerConfig;
  #steps = 0;

  constructor(parameters: readonly Parameter[], config: OptimizerConfig) {
    this.#config = config;
    this.#slots = parameters.map((parameter) => ({
      parameter,
      decay: takesDecay(parameter.name) ? config.weight_decay : 0,
      m: tf.keep(tf.zeros(parameter.value.shape)),
      v: tf.keep(tf.zeros(parameter.value.shape)),
    }));
  }

  /** Updates done so far. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * One update. The caller disposes of the gradients. A GPU clips by itself: the norm is waited for once the whole update
   * is on its way.
   */
  update(gradients: Gradients, learningRate: number): UpdateReport {
    const ordered = this.#slots.map((slot) => gradientOf(gradients, slot.parameter));
    const squares = sumsOfSquares(ordered); // [slots]
    const read = startRead(squares);
    const gradScale = clippingFactor(squares, this.#config.max_grad_norm); // []
    try {
      const updateSlot = hasKernel('AdamW') ? updateInPlace : updatePortably;
      for (const [i, slot] of this.#slots.entries()) {
        const grad = ordered[i];
        if (grad !== undefined) updateSlot(slot, grad, gradScale, this.#coefficients(slot, learningRate));
      }
      const gradNorm = normOf(read === null ? squares.dataSync<'float32'>() : new Float32Array(read.wait()));
      const applied = Number.isFinite(gradNorm);
      if (applied) this.#steps++;
      return { gradNorm, applied };
    } finally {
      read?.cancel();
      tf.dispose([squares, gradScale]);
    }
  }

  /** As before the first update. */
  reset(): void {
    this.#steps = 0;
    for (const slot of this.#slots) {
      tf.dispose([slot.m, slot.v]);
      slot.m = tf.keep(tf.zeros(slot.parameter.value.shape));
      slot.v = tf.keep(tf.zeros(slot.parameter.value.shape));
    }
  }

  /** The contents of `optimizer.safetensors`: `exp_avg.<param>`, `exp_avg_sq.<param>`, `step`. */
  async exportState(): Promise<Record<string, Float32Array>> {
    const state: Record<string, Float32Array> = { [STEP]: Float32Array.of(this.#steps) };
    for (const { parameter, m, v } of this.#slots) {
      // Copies: on wasm, data() is a view of memory that the next step overwrites.
      state[FIRST + parameter.name] = Float32Array.from(await m.data());
      state[SECOND + parameter.name] = Float32Array.from(await v.data());
    }
    return state;
  }

  /** The same as tensors to write, each read when its turn comes. */
  stateTensors(): readonly NamedPieces[] {
    const steps = Float32Array.of(this.#steps);
    return [
      { name: STEP, shape: [1], pieces: () => [steps] },
      ...this.#slots.flatMap(({ parameter: { name, value }, m, v }) => [
        { name: FIRST + name, shape: [value.size], pieces: () => tensorPieces(m) },
        { name: SECOND + name, shape: [value.size], pieces: () => tensorPieces(v) },
      ]),
    ];
  }

  /** Restores an exported state; throws for one of other parameters, without changing anything. */
  importState(state: Readonly<Record<string, Float32Array>>): void {
    this.readState({ size: (name) => state[name]?.length, read: (name) => state[name] ?? new Float32Array() });
  }

  /** The same from a file, a tensor at a time. */
  readState(state: StoredState): void {
    checkSize(state, STEP, 1);
    for (const { parameter } of this.#slots)
      for (const prefix of [FIRST, SECOND]) checkSize(state, prefix + parameter.name, parameter.value.size);
    const [steps = 0] = state.read(STEP);
    for (const slot of this.#slots) {
      const { name, value } = slot.parameter;
      replace(slot, 'm', () => tf.tensor(state.read(FIRST + name), value.shape, 'float32'));
      replace(slot, 'v', () => tf.tensor(state.read(SECOND + name), value.shape, 'float32'));
    }
    this.#steps = steps;
  }

  dispose(): void {
    tf.dispose(this.#slots.flatMap(({ m, v }) => [m, v]));
  }

  #coefficients(slot: Slot, lr: number): AdamWAttrs {
    const { adam_beta1: beta1, adam_beta2: beta2, adam_epsilon: eps } = this.#config;
    return { lr, beta1, beta2, eps, weightDecay: slot.decay, step: this.#steps + 1 };
  }
}

/** The kernel updates param, m and v in place. */
function updateInPlace(slot: Slot, grad: tf.Tensor, gradScale: tf.Tensor, coefficients: AdamWAttrs): void {
  const inputs = { param: slot.parameter.value, m: slot.m, v: slot.v, grad, gradScale };
  tf.tidy(() => {
    tf.engine().runKernel('AdamW', inputs, { ...coefficients });
  });
}

function updatePortably(slot: Slot, grad: tf.Tensor, gradScale: tf.Tensor, coefficients: AdamWAttrs): void {
  if (gradScale.dataSync()[0] === LEAVE_UNCHANGED) return;
  const { lr, beta1, beta2, eps, weightDecay, step } = coefficients;
  const [param, m, v] = tf.tidy(() => {
    const scaled = tf.mul(grad, gradScale);
    const mean = tf.add(tf.mul(slot.m, beta1), tf.mul(scaled, 1 - beta1));
    const square = tf.add(tf.mul(slot.v, beta2), tf.mul(tf.square(scaled), 1 - beta2));
    const denominator = tf.add(tf.div(tf.sqrt(square), Math.sqrt(1 - beta2 ** step)), eps);
    const decayed = weightDecay === 0 ? slot.parameter.value : tf.mul(slot.parameter.value, 1 - lr * weightDecay);
    const moved = tf.sub(decayed, tf.mul(tf.div(mean, denominator), lr / (1 - beta1 ** step)));
    return [moved, mean, square];
  });
  if (param === undefined || m === undefined || v === undefined) return;
  replace(slot, 'm', () => m);
  replace(slot, 'v', () => v);
  const { parameter } = slot;
  if (parameter.value instanceof tf.Variable) {
    parameter.value.assign(param);
    param.dispose();
  } else {
    parameter.value.dispose();
    parameter.value = tf.keep(param);
  }
}

function replace(slot: Slot, moment: 'm' | 'v', make: () => tf.Tensor): void {
  slot[moment].dispose();
  slot[moment] = tf.keep(make());
}

/** √(Σ g²) over all gradients. One read-back for all of them. */
export function globalNorm(gradients: readonly tf.Tensor[]): number {
  const squares = sumsOfSquares(gradients);
  const norm = normOf(squares.dataSync<'float32'>());
  squares.dispose();
  return norm;
}

/** Σ g² of each gradient: [gradients], or one zero where there are none. */
function sumsOfSquares(gradients: readonly tf.Tensor[]): tf.Tensor {
  if (gradients.length === 0) return tf.zeros([1]);
  return tf.tidy(() => {
    const square = hasKernel('SumSquares')
      ? (x: tf.Tensor) => tf.reshape(tf.engine().runKernel('SumSquares', { x }) as tf.Tensor, [])
      : (x: tf.Tensor) => tf.sum(tf.square(x));
    return tf.stack(gradients.map(square));
  });
}

/** √(Σ squares); not finite where an update must not be made. */
function normOf(squares: Float32Array): number {
  let total = 0;
  for (const square of squares) total += square;
  return total > MOST_SQUARES ? Number.POSITIVE_INFINITY : Math.sqrt(total);
}

/** What multiplies every gradient, [], where the norm is: on a GPU, or here. */
function clippingFactor(squares: tf.Tensor, maxNorm: number): tf.Tensor {
  if (hasKernel('ClippingFactor'))
    return tf.tidy(() => tf.engine().runKernel('ClippingFactor', { squares }, { maxNorm }) as tf.Tensor);
  const norm = normOf(squares.dataSync<'float32'>());
  return tf.scalar(Number.isFinite(norm) ? clipCoefficient(norm, maxNorm) : LEAVE_UNCHANGED);
}

/** The clipping factor for gradients: min(1, max / (norm + 1e-6)); 1 when `maxNorm` is 0 (no clipping). */
export function clipCoefficient(norm: number, maxNorm: number): number {
  return maxNorm === 0 ? 1 : Math.min(1, maxNorm / (norm + 1e-6));
}

/**
 * Adds a micro-batch's gradients to the previous sum (null: none yet). Takes ownership of both; the result is kept, and
 * the caller disposes of it.
 */
export function accumulateGradients(sum: Gradients | null, gradients: Gradients): Gradients {
  if (sum === null) {
    for (const gradient of Object.values(gradients)) tf.keep(gradient);
    return gradients;
  }
  const add = hasKernel('AddInPlace') && ownMemory(sum) ? addInPlace : addPortably;
  const out: Record<string, tf.Tensor> = {};
  for (const [name, before] of Object.entries(sum)) {
    const more = gradients[name];
    if (more === undefined) throw new BraidError('NO_GRADIENT', `Expected a gradient of "${name}", got none`);
    out[name] = add(before, more);
    more.dispose();
  }
  return out;
}

function addInPlace(target: tf.Tensor, x: tf.Tensor): tf.Tensor {
  tf.tidy(() => {
    tf.engine().runKernel('AddInPlace', { target, x }, { scale: 1 });
  });
  return target;
}

function addPortably(before: tf.Tensor, more: tf.Tensor): tf.Tensor {
  const total = tf.keep(tf.add(before, more));
  before.dispose();
  return total;
}

/** Two gradients may be views of one tensor (the terms of a sum share theirs), which must not be modified in place. */
function ownMemory(gradients: Gradients): boolean {
  const tensors = Object.values(gradients);
  return new Set(tensors.map(({ dataId }) => dataId)).size === tensors.length;
}

/** Whether weight decay applies: not to biases and norms (transformers' `get_decay_parameter_names`). */
export function takesDecay(name: string): boolean {
  return !/bias|layernorm|rmsnorm|(?:^|\.)norm(?:$|\.)|_norm(?:$|\.)/i.test(name);
}

function hasKernel(name: string): boolean {
  return tf.getKernel(name, tf.getBackend()) != null;
}

function gradientOf(gradients: Gradients, parameter: Parameter): tf.Tensor {
  const gradient = gradients[parameter.name];
  if (gradient === undefined)
    throw new BraidError('NO_GRADIENT', `Expected a gradient of "${parameter.name}", got none`);
  if (gradient.size !== parameter.value.size)
    throw new BraidError(
      'BAD_SHAPE',
      `Expected the gradient of "${parameter.name}" to be [${parameter.value.shape.join(', ')}], got [${gradient.shape.join(', ')}]`,
    );
  return gradient;
}

function checkSize(state: StoredState, name: string, size: number): void {
  const found = state.size(name);
  if (found === size) return;
  throw new BraidError(
    'BAD_OPTIMIZER_STATE',
    `Expected ${size} values of "${name}" in the optimiser state, got ${found ?? 'none'}`,
    {
      kind: 'input',
      remedy: 'Resume with the configuration the checkpoint was written with, or start a new stage from it.',
    },
  );
}
