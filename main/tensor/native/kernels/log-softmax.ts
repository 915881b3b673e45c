/**
 * Selective log-softmax in chunks of rows: with 128k words of vocabulary the whole matrix of logits would not fit.
 * TensorFlow's fused cross entropy gives, for each row, the loss −log p(target) and its gradient p − onehot(target).
 */

import { isDeterministic } from '../../../native/gpu-settings.ts';
import { asFloat, FLOAT, type Handle, INT32, maths, type Ops, typeAttr } from '../ops.ts';
import type { KernelInputs, Register } from './kernel.ts';
import { linearProduct } from './matmul.ts';

// N tokens, D width, V vocabulary, C rows of a chunk.

interface Attrs {
  readonly temperature: number;
}

interface GradAttrs extends Attrs {
  readonly needHidden: boolean;
  readonly needWeight: boolean;
}

/** Floats of logits in flight at a time: 64 MiB. What fits in one chunk keeps p − onehot(target) for the gradient. */
const CHUNK_FLOATS = 2 ** 24;

export function registerLogSoftmax(register: Register): void {
  register<Attrs>('SelectiveLogSoftmax', (ops, inputs, { temperature }) => {
    const { concat, sub } = maths(ops);
    const zero = ops.scalar(0);
    const logps: Handle[] = [];
    const entropies: Handle[] = [];
    let kept: Handle | null = null;
    for (const chunk of chunks(ops, inputs, asFloat(ops, inputs.handle('weight')), temperature)) {
      // Not a negation: certainty is a log-probability of 0, not of -0.
      logps.push(sub(zero, chunk.loss));
      entropies.push(entropyOf(ops, chunk));
      ops.free(chunk.logits);
      if (chunk.only) kept = chunk.dLoss;
      else ops.free(chunk.dLoss);
    }
    return [concat(logps, 0), concat(entropies, 0), kept ?? ops.floats(new Float32Array(1), [1])];
  });
  register<GradAttrs>('SelectiveLogSoftmaxGrad', (ops, inputs, attrs) => logSoftmaxGrad(ops, inputs, attrs));
}

/** Σ p·logit = Σ dLoss·logit + logit(target), so H = lse − Σ p·logit = loss − Σ dLoss·logit. [C] */
function entropyOf(ops: Ops, { dLoss, logits, loss, rows }: Chunk): Handle {
  const { batchMatMul, reshape, sub } = maths(ops);
  const row = (x: Handle): Handle => reshape(x, [rows, 1, x.shape[1] ?? 0]);
  // A reshaped tensor shares its memory: kept until the kernel ends, it would keep every chunk's logits.
  return ops.part(() => ({ h: sub(loss, reshape(batchMatMul(row(dLoss), row(logits), false, true), [rows])) })).h;
}

function logSoftmaxGrad(
  ops: Ops,
  inputs: KernelInputs,
  { temperature, needHidden, needWeight }: GradAttrs,
): readonly Handle[] {
  const { add, concat, matMul, mul } = maths(ops);
  const [hidden, weight] = [inputs.handle('hidden'), asFloat(ops, inputs.handle('weight'))];
  const [dlogp, dentropy, kept] = [inputs.handle('dlogp'), inputs.handle('dentropy'), inputs.handle('lse')];
  const withEntropy = ops.backend.binding.tensorDataSync(dentropy.id).some((value) => value !== 0);
  const scale = ops.scalar(-1 / temperature);
  const dHidden: Handle[] = [];
  let dWeight: Handle | null = null;
  const use = (part: Handle, dLogits: Handle): void => {
    if (needHidden) dHidden.push(matMul(dLogits, weight));
    if (!needWeight) return;
    const more = matMul(dLogits, part, true, false);
    dWeight = dWeight === null ? more : add(dWeight, more);
  };
  if (kept.shape.length === 2 && !withEntropy) {
    use(hidden, mul(kept, mul(column(ops, dlogp), scale)));
  } else {
    for (const chunk of chunks(ops, inputs, weight, temperature)) {
      const { dLogits } = ops.part(() => {
        const fromLogp = mul(chunk.dLoss, mul(rowsOf(ops, dlogp, chunk), scale));
        if (!withEntropy) return { dLogits: fromLogp };
        return { dLogits: add(fromLogp, entropyPart(ops, chunk, mul(rowsOf(ops, dentropy, chunk), scale))) };
      }); // [C, V]
      use(chunk.hidden, dLogits);
      for (const handle of [chunk.dLoss, chunk.logits, dLogits]) ops.free(handle);
    }
  }
  return [needHidden ? concat(dHidden, 0) : ops.scalar(0), dWeight ?? ops.scalar(0)];
}

/** A chunk's rows of a vector, as a column. */
function rowsOf(ops: Ops, x: Handle, { first, rows }: Chunk): Handle {
  return column(ops, maths(ops).slice(x, [first], [rows]));
}

function column(ops: Ops, x: Handle): Handle {
  return maths(ops).reshape(x, [x.shape[0] ?? 0, 1]);
}

interface Chunk {
  /** Whether it is all. */
  readonly only: boolean;
  readonly first: number;
  readonly rows: number;
  /** The rows of hidden states, not yet divided by the temperature. [C, D] */
  readonly hidden: Handle;
  readonly logits: Handle; // [C, V]
  /** −log p(target) [C] */
  readonly loss: Handle;
  /** p − onehot(target) [C, V] */
  readonly dLoss: Handle;
}

type CrossEntropy = {
  readonly loss: Handle; // [C]
  readonly dLoss: Handle; // [C, V]
};

/** The same by elementary ops: TensorFlow has the fused op on a GPU only without determinism, and else reports an error. */
export function crossEntropyByParts(ops: Ops, logits: Handle, labels: Handle): CrossEntropy {
  const { logSoftmax, mul, neg, oneHot, softmax, sub, sum } = maths(ops);
  return ops.part(() => {
    const chosen = oneHot(labels, logits.shape[1] ?? 0);
    return { loss: neg(sum(mul(logSoftmax(logits), chosen), 1, false)), dLoss: sub(softmax(logits), chosen) };
  });
}

function* chunks(ops: Ops, inputs: KernelInputs, weight: Handle, temperature: number): Generator<Chunk> {
  const { mul, slice } = maths(ops);
  const [hidden, targets] = [inputs.handle('hidden'), inputs.handle('targets')];
  const [n = 0, d = 0] = hidden.shape;
  const [vocabulary = 1] = weight.shape;
  const most = Math.max(1, Math.floor(CHUNK_FLOATS / vocabulary));
  const attrs = [typeAttr(ops.backend, 'T', FLOAT), typeAttr(ops.backend, 'Tlabels', INT32)];
  const fused = (logits: Handle, labels: Handle): CrossEntropy => {
    const [loss, dLoss] = ops.runMany('SparseSoftmaxCrossEntropyWithLogits', [logits, labels], attrs, 2);
    return { loss: loss as Handle, dLoss: dLoss as Handle };
  };
  for (let first = 0; first < n; first += most) {
    const rows = Math.min(most, n - first);
    const only = rows === n;
    const part = only ? hidden : slice(hidden, [first, 0], [rows, d]);
    const labels = only ? targets : slice(targets, [first], [rows]);
    const scaled = temperature === 1 ? part : mul(part, ops.scalar(1 / temperature));
    const { logits } = ops.part(() => ({ logits: linearProduct(ops, scaled, weight) }));
    const { loss, dLoss } = isDeterministic() ? crossEntropyByParts(ops, logits, labels) : fused(logits, labels);
    yield { only, first, rows, hidden: part, logits, loss, dLoss };
  }
}

/** dH/dlogit = −p·(log p + H); `factor` [C, 1] carries the minus sign. */
function entropyPart(ops: Ops, chunk: Chunk, factor: Handle): Handle {
  const { add, mul, softmax, sub, sum } = maths(ops);
  const p = softmax(chunk.logits);
  const entropy = column(ops, entropyOf(ops, chunk));
  // log p = logit − lse, and lse = H + Σ p·logit.
  const { mean } = ops.part(() => ({ mean: sum(mul(p, chunk.logits), 1) }));
  const lse = add(entropy, mean);
  return mul(mul(p, add(sub(chunk.logits, lse), entropy)), factor);
}
