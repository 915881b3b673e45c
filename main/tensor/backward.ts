/**
 * A backward pass that frees memory as it runs. tfjs keeps every saved activation, and the gradient of every
 * activation, until the whole pass has ended: twice the peak that is needed.
 */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';

/** What the tape holds of an op. tfjs does not export its type. */
interface TapeNode {
  readonly kernelName: string;
  readonly outputs: readonly tf.Tensor[];
  readonly saved: readonly tf.Tensor[];
  gradient?: (dys: (tf.Tensor | null)[]) => Record<string, () => tf.Tensor>;
}

const savedOutputs = new Map<string, readonly number[]>();

/** Says which outputs of a kernel are only there for its gradient: tfjs would make zeros of their size as their own. */
export function declareSavedOutputs(kernelName: string, outputs: readonly number[]): void {
  savedOutputs.set(kernelName, outputs);
}

/**
 * The value of `f` and its gradient with respect to each of `xs` (null where there is none). `dy` is the gradient of the
 * value, 1 by default. The caller disposes of everything returned.
 */
export function gradients(
  f: () => tf.Tensor,
  xs: readonly tf.Tensor[],
  dy?: tf.Tensor,
): { readonly value: tf.Tensor; readonly grads: readonly (tf.Tensor | null)[] } {
  const engine = tf.engine();
  const work = (): tf.Tensor => {
    const y = f();
    releaseInTurn(engine.state.activeTape as unknown as readonly TapeNode[], [...xs, y]);
    return y;
  };
  try {
    return engine.gradients(work as () => tf.Scalar, [...xs], dy as tf.Scalar | undefined, dy !== undefined);
  } catch (error) {
    freeTape();
    throw error;
  }
}

/** After memory ran out in the middle of a pass, tfjs would keep forever what its ops had saved for the gradient. */
function freeTape(): void {
  const { state } = tf.engine();
  if (state.gradientDepth > 0 || state.activeTape === null) return;
  for (const { saved } of state.activeTape as unknown as readonly TapeNode[]) tf.dispose([...saved]);
  state.activeTape = [];
}

/** The backward pass visits ops in reverse order, so when one is visited, the previous one is finished. */
function releaseInTurn(tape: readonly TapeNode[], kept: readonly tf.Tensor[]): void {
  const keptIds = new Set(kept.map(({ id }) => id));
  let done: readonly tf.Tensor[] = [];
  for (const node of tape) {
    const { kernelName, gradient, outputs, saved } = node;
    if (gradient === undefined) continue;
    const unread = savedOutputs.get(kernelName) ?? [];
    node.gradient = (dys) => {
      pulse();
      tf.dispose([...done]);
      const own = dys.filter((dy, i) => dy !== null && !keptIds.has(outputs[i]?.id ?? -1)) as tf.Tensor[];
      done = [...own, ...saved];
      return passOn(gradient(dys.map((dy, i) => (unread.includes(i) ? tf.scalar(0) : dy))), own);
    };
  }
}

/** An op that passes its gradient through unchanged must not have it disposed together with its own. */
function passOn(closures: Record<string, () => tf.Tensor>, own: readonly tf.Tensor[]): Record<string, () => tf.Tensor> {
  return Object.fromEntries(
    Object.entries(closures).map(([name, closure]) => [
      name,
      () => {
        const dx = closure();
        return own.includes(dx) ? tf.clone(dx) : dx;
      },
    ]),
  );
}
