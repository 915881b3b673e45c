import * as tf from '@tensorflow/tfjs-core';
import { declareSavedOutputs } from '../backward.ts';
import { input, registerPortable, runOp, savedTensor } from '../portable.ts';

// N tokens, D width, V vocabulary.

interface Attrs {
  readonly temperature: number;
}

interface GradAttrs extends Attrs {
  readonly needHidden: boolean;
  readonly needWeight: boolean;
}

function scaledLogits(inputs: Readonly<Record<string, tf.Tensor>>, temperature: number): tf.Tensor2D {
  return tf.div(
    tf.matMul(input<tf.Tensor2D>(inputs, 'hidden'), input<tf.Tensor2D>(inputs, 'weight'), false, true),
    temperature,
  );
}

registerPortable<Attrs>('SelectiveLogSoftmax', (inputs, { temperature }) => {
  const logits = scaledLogits(inputs, temperature); // [N, V]
  const lse = tf.logSumExp(logits, 1, true);
  const logProbs = tf.sub(logits, lse);
  const chosen = tf.oneHot(input<tf.Tensor1D>(inputs, 'targets'), logits.shape[1]);
  return [
    tf.sum(tf.mul(logProbs, chosen), 1),
    tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), 1)),
    tf.reshape(lse, [-1]),
  ];
});

registerPortable<GradAttrs>('SelectiveLogSoftmaxGrad', (inputs, { temperature, needHidden, needWeight }) => {
  const column = (name: string): tf.Tensor2D => tf.reshape(input(inputs, name), [-1, 1]);
  const logits = scaledLogits(inputs, temperature);
  const logProbs = tf.sub(logits, column('lse'));
  const p = tf.exp(logProbs);
  const chosen = tf.oneHot(input<tf.Tensor1D>(inputs, 'targets'), logits.shape[1]);
  const fromLogp = tf.mul(column('dlogp'), tf.sub(chosen, p));
  const fromEntropy = tf.mul(column('dentropy'), tf.mul(p, tf.add(logProbs, column('entropy'))));
  const dLogits = tf.div(tf.sub(fromLogp, fromEntropy), temperature) as tf.Tensor2D;
  return [
    needHidden ? tf.matMul(dLogits, input<tf.Tensor2D>(inputs, 'weight')) : tf.scalar(0),
    needWeight ? tf.matMul(dLogits, input<tf.Tensor2D>(inputs, 'hidden'), true, false) : tf.scalar(0),
  ];
});

// What a backend keeps for the gradient: log-sum-exps or probabilities, and on wasm the logits if that was asked.
declareSavedOutputs('SelectiveLogSoftmax', [2, 3]);

tf.registerGradient({
  kernelName: 'SelectiveLogSoftmax',
  inputsToSave: ['hidden', 'weight', 'targets'],
  outputsToSave: [false, true, true, true],
  gradFunc: (dys, saved, attrs) => {
    const names = ['hidden', 'weight', 'targets', 'entropy', 'lse', 'logits'].slice(0, saved.length);
    const inputs = Object.fromEntries(names.map((name, i) => [name, savedTensor(saved, i)]));
    const { temperature, trainWeight, trainHidden } = attrs as unknown as Attrs & {
      trainWeight: boolean;
      trainHidden: boolean;
    };
    const grads = runOp<tf.Tensor[]>(
      'SelectiveLogSoftmaxGrad',
      { dlogp: savedTensor(dys as tf.Tensor[], 0), dentropy: savedTensor(dys as tf.Tensor[], 1), ...inputs },
      { temperature, needHidden: trainHidden, needWeight: trainWeight },
    );
    return { hidden: () => savedTensor(grads, 0), weight: () => savedTensor(grads, 1) };
  },
});

export interface LogSoftmaxOptions {
  readonly temperature: number;
  /** Whether the gradient with respect to the head's weight is needed. */
  readonly trainWeight: boolean;
  /** Bytes that logits may take until the gradient, which otherwise computes them again. Native has a limit of its own. */
  readonly keptBytes?: number;
}

/**
 * Log-probability of each target token and entropy of its distribution, without ever holding all logits at once.
 * hidden [N, D], weight [V, D] (the language-model head), targets int32 [N] → logps [N], entropies [N], both in nats
 * of logits / temperature.
 */
export function selectiveLogSoftmax(
  hidden: tf.Tensor2D,
  weight: tf.Tensor2D,
  targets: tf.Tensor1D,
  options: LogSoftmaxOptions,
): { readonly logps: tf.Tensor1D; readonly entropies: tf.Tensor1D } {
  const taped = tf.engine().state.gradientDepth > 0;
  const attrs = {
    temperature: options.temperature,
    keepLogits: taped && 4 * hidden.shape[0] * weight.shape[0] <= (options.keptBytes ?? 0),
    trainHidden: true,
    trainWeight: options.trainWeight,
  };
  const outputs = runOp<tf.Tensor[]>('SelectiveLogSoftmax', { hidden, weight, targets }, attrs);
  // The tape holds the logits for as long as the gradient needs them.
  tf.dispose(outputs.slice(3));
  return { logps: savedTensor<tf.Tensor1D>(outputs, 0), entropies: savedTensor<tf.Tensor1D>(outputs, 1) };
}
