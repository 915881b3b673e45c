/**
 * Gradients that give memory back as they go. tfjs holds every activation that its tape saved, and every gradient by an
 * activation, until the whole backward pass is over: twice what it ever needs.
 */
import * as tf from '@tensorflow/tfjs-core';

/** What the tape holds of an op. tfjs does not export its type. */
interface TapeNode {
  readonly outputs: readonly tf.Tensor[];
  readonly saved: readonly tf.Tensor[];
  gradient?: (dys: (tf.Tensor | null)[]) => Record<string, () => tf.Tensor>;
}

/**
 * The value of `f` and its gradient by each of `xs`, null where there is none; `dy`, by default 1, weighs the value. The
 * caller disposes all.
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
  return engine.gradients(work as () => tf.Scalar, [...xs], dy as tf.Scalar | undefined, dy !== undefined);
}

/** The backward pass takes ops one after the other, the last one first: when one's turn comes, the one before is done. */
function releaseInTurn(tape: readonly TapeNode[], kept: readonly tf.Tensor[]): void {
  const keptIds = new Set(kept.map(({ id }) => id));
  let done: readonly tf.Tensor[] = [];
  for (const node of tape) {
    const { gradient, outputs, saved } = node;
    if (gradient === undefined) continue;
    node.gradient = (dys) => {
      tf.dispose([...done]);
      const own = dys.filter((dy, i) => dy !== null && !keptIds.has(outputs[i]?.id ?? -1)) as tf.Tensor[];
      done = [...own, ...saved];
      return passOn(gradient(dys), own);
    };
  }
}

/** An op that hands its gradient through unchanged must not lose it with its own. */
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
