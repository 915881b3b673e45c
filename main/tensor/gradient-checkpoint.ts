import * as tf from '@tensorflow/tfjs-core';
import { gradients } from './backward.ts';
import { savedTensor } from './portable.ts';

/**
 * Runs `work` so that the tape keeps only its inputs: its intermediates are freed at once and recomputed when the
 * gradient needs them (Chen et al. 2016, arXiv 1604.06174). Costs one more forward pass of `work`.
 *
 * `work` must be a pure function of its inputs and of `parameters`, outer tensors that outlive the gradient and whose own
 * may be requested; anything else it uses is treated as constant. Inputs and the result are [N, …].
 */
export function checkpointed(
  work: (inputs: readonly tf.Tensor2D[]) => tf.Tensor2D,
  inputs: readonly tf.Tensor2D[],
  parameters: readonly tf.Tensor[],
): tf.Tensor2D {
  const op = tf.customGrad((...args) => {
    const save = args.at(-1) as tf.GradSaveFunc;
    const given = args.slice(0, inputs.length) as tf.Tensor2D[];
    const value = tf.tidy(() => work(given));
    // Last: what is saved for an op that fails is never freed.
    save(given);
    return {
      value,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) =>
        recomputed(
          work,
          given.map((_, i) => savedTensor<tf.Tensor2D>(saved, i)),
          parameters,
          dy,
        ),
    };
  });
  return op(...inputs, ...parameters) as tf.Tensor2D;
}

/** Some rows of an op's result, from all of its inputs. */
export interface RowsOf {
  readonly rows: number;
  readonly run: (inputs: readonly tf.Tensor2D[]) => tf.Tensor2D;
}

/**
 * An op whose result is made of parts, one below the other, each a function of the inputs alone. Only the inputs are
 * kept; result and gradient are computed part by part, so that the intermediates of one part exist at a time.
 */
export function checkpointedParts(parts: readonly RowsOf[], inputs: readonly tf.Tensor2D[]): tf.Tensor2D {
  const op = tf.customGrad((...args) => {
    const given = args.slice(0, -1) as tf.Tensor2D[];
    const each = (): tf.Tensor2D[] => parts.map(({ run }) => tf.tidy(() => run(given)));
    const value = tf.tidy(() => tf.concat(each(), 0));
    (args.at(-1) as tf.GradSaveFunc)(given);
    return {
      value,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) =>
        outsideTape(() => partGradients(parts, saved as tf.Tensor2D[], dy as tf.Tensor2D)),
    };
  });
  return op(...inputs) as tf.Tensor2D;
}

/** An op of which only the inputs are kept for a gradient, where one is recorded. All that it computes from is among them. */
export function keepingInputs(work: RowsOf['run'], inputs: readonly tf.Tensor[]): tf.Tensor2D {
  const { gradientDepth, kernelDepth } = tf.engine().state;
  const given = inputs as readonly tf.Tensor2D[];
  if (gradientDepth === 0 || kernelDepth > 0) return work(given);
  return checkpointedParts([{ rows: given[0]?.shape[0] ?? 0, run: work }], given);
}

/** The sums of the parts' gradients with respect to each input. */
function partGradients(parts: readonly RowsOf[], inputs: readonly tf.Tensor2D[], dy: tf.Tensor2D): tf.Tensor[] {
  let first = 0;
  return parts.reduce<tf.Tensor[]>((sums, { rows, run }) => {
    const dPart = tf.slice(dy, [first, 0], [rows, -1]);
    first += rows;
    const { value, grads } = gradients(() => run(inputs), inputs, dPart);
    const next = inputs.map((input, i) => {
      const own = grads[i] ?? tf.zerosLike(input);
      const sum = sums[i];
      if (sum === undefined) return own;
      const more = tf.add(sum, own);
      tf.dispose([sum, own]);
      return more;
    });
    tf.dispose([value, dPart]);
    return next;
  }, []);
}

/** Gradients with respect to each input and parameter, through a second forward pass. */
function recomputed(
  work: (inputs: readonly tf.Tensor2D[]) => tf.Tensor2D,
  inputs: readonly tf.Tensor2D[],
  parameters: readonly tf.Tensor[],
  dy: tf.Tensor,
): tf.Tensor[] {
  return outsideTape(() => {
    const all = [...inputs, ...parameters];
    const { grads } = gradients(() => work(inputs), all, dy);
    return all.map((tensor, i) => grads[i] ?? tf.zerosLike(tensor));
  });
}

/** tfjs has one tape at a time: a gradient inside a gradient would lose the outer one. */
function outsideTape<T>(work: () => T): T {
  const { state } = tf.engine();
  const { activeTape, gradientDepth } = state;
  try {
    state.gradientDepth = 0;
    return work();
  } finally {
    state.activeTape = activeTape as typeof state.activeTape;
    state.gradientDepth = gradientDepth;
  }
}
