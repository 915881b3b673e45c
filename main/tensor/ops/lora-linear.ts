import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp, savedTensor, type Tensors } from '../portable.ts';

// N tokens, I in, O out, r rank of the adapter.

export interface LoraAttrs {
  /** The adapter's scale, alpha / r. */
  readonly scaling: number;
}

const matrix = (inputs: Tensors, name: string): tf.Tensor2D => input<tf.Tensor2D>(inputs, name);

registerPortable<LoraAttrs>('LoraLinear', (inputs, { scaling }) => {
  const [x, weight, a, b] = ['x', 'weight', 'a', 'b'].map((name) => matrix(inputs, name)) as [
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
  ];
  const low = tf.mul(tf.matMul(x, a, false, true), scaling) as tf.Tensor2D; // [N, r]
  return tf.add(tf.matMul(x, weight, false, true), tf.matMul(low, b, false, true));
});

// The gradient with respect to the input of the adapter's B, s·dy·B, for both of the others. [N, r]
registerPortable<LoraAttrs>('LoraLinearGradLow', (inputs, { scaling }) =>
  tf.mul(tf.matMul(matrix(inputs, 'dy'), matrix(inputs, 'b')), scaling),
);

registerPortable('LoraLinearGradX', (inputs) =>
  tf.add(
    tf.matMul(matrix(inputs, 'dy'), matrix(inputs, 'weight')),
    tf.matMul(matrix(inputs, 'dLow'), matrix(inputs, 'a')),
  ),
);

registerPortable<LoraAttrs>('LoraLinearGradAdapter', (inputs, { scaling }) => {
  const [x, dy] = [matrix(inputs, 'x'), matrix(inputs, 'dy')];
  const low = tf.mul(tf.matMul(x, matrix(inputs, 'a'), false, true), scaling) as tf.Tensor2D;
  return [tf.matMul(matrix(inputs, 'dLow'), x, true, false), tf.matMul(dy, low, true, false)];
});

tf.registerGradient({
  kernelName: 'LoraLinear',
  inputsToSave: ['x', 'weight', 'a', 'b'],
  gradFunc: (dy, saved, attrs) => {
    const [x, weight, a, b] = [0, 1, 2, 3].map((n) => savedTensor(saved, n)) as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
    ];
    const dLow = runOp<tf.Tensor>('LoraLinearGradLow', { dy: dy as tf.Tensor, b }, attrs);
    const given = { dy: dy as tf.Tensor, dLow, a };
    const adapter = runOp<tf.Tensor[]>('LoraLinearGradAdapter', { ...given, x }, attrs);
    return {
      x: () => runOp<tf.Tensor>('LoraLinearGradX', { ...given, weight }),
      weight: () => tf.matMul(dy as tf.Tensor, x, true, false),
      a: () => savedTensor(adapter, 0),
      // The last that is asked for.
      b: () => {
        dLow.dispose();
        return savedTensor(adapter, 1);
      },
    };
  },
});

/**
 * A linear layer under a low-rank adapter as one op: x·Wᵀ + scaling·(x·Aᵀ)·Bᵀ. x [N, I], weight [O, I],
 * a [r, I], b [O, r] → [N, O].
 */
export function loraLinear(
  x: tf.Tensor2D,
  weight: tf.Tensor2D,
  a: tf.Tensor2D,
  b: tf.Tensor2D,
  scaling: number,
): tf.Tensor2D {
  return runOp<tf.Tensor2D>('LoraLinear', { x, weight, a, b }, { scaling });
}
