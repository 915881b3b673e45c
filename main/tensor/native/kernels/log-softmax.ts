/**
 * Selective log-softmax in chunks of rows: with 128k words of vocabulary the whole matrix of logits would not fit.
 * TensorFlow's fused cross entropy gives, for each row, the loss −log p(target) and its gradient p − onehot(target).
 */
import { FLOAT, type Handle, INT32, maths, type Ops, typeAttr } from '../ops.ts';
import type { Register } from '../register.ts';
import { linearProduct } from './matmul.ts';

// N tokens, D width, V vocabulary, C rows of a chunk.

interface Attrs {
  readonly temperature: number;
}

interface GradAttrs extends Attrs {
  readonly needHidden: boolean;
  readonly needWeight: boolean;
}

/** Floats of logits in flight at a time: 64 MiB. */
const CHUNK_FLOATS = 2 ** 24;

export function registerLogSoftmax(register: Register): void {
  register<Attrs>('SelectiveLogSoftmax', (ops, inputs, { temperature }) => {
    const { concat, mul, sub, sum } = maths(ops);
    const zero = ops.scalar(0);
    const [hidden, weight, targets] = [inputs.handle('hidden'), inputs.handle('weight'), inputs.handle('targets')];
    const logps: Handle[] = [];
    const entropies: Handle[] = [];
    for (const chunk of chunks(ops, hidden, weight, targets, temperature)) {
      const { loss, slope, logits } = chunk;
      // Not a negation: certainty is a log-probability of 0, not of -0.
      logps.push(sub(zero, loss));
      // Σ p·logit = Σ slope·logit + logit(target), so H = lse − Σ p·logit = loss − Σ slope·logit.
      entropies.push(sub(loss, sum(mul(slope, logits), 1, false)));
      ops.free(slope);
      ops.free(logits);
    }
    // The third output is what other backends keep for the gradient; here it computes all anew.
    return [concat(logps, 0), concat(entropies, 0), ops.floats(new Float32Array(1), [1])];
  });
  register<GradAttrs>('SelectiveLogSoftmaxGrad', (ops, inputs, attrs) => logSoftmaxGrad(ops, inputs, attrs));
}

function logSoftmaxGrad(
  ops: Ops,
  inputs: { handle(name: string): Handle },
  { temperature, needHidden, needWeight }: GradAttrs,
): readonly Handle[] {
  const { add, concat, matMul, mul, reshape, slice } = maths(ops);
  const [hidden, weight, targets] = [inputs.handle('hidden'), inputs.handle('weight'), inputs.handle('targets')];
  const [dlogp, dentropy] = [inputs.handle('dlogp'), inputs.handle('dentropy')];
  const withEntropy = ops.backend.binding.tensorDataSync(dentropy.id).some((value) => value !== 0);
  const dHidden: Handle[] = [];
  let dWeight: Handle | null = null;
  for (const chunk of chunks(ops, hidden, weight, targets, temperature)) {
    const { first, rows, slope, logits, loss } = chunk;
    const column = (x: Handle): Handle => reshape(slice(x, [first], [rows]), [rows, 1]);
    const scale = ops.scalar(-1 / temperature);
    const fromLogp = mul(slope, mul(column(dlogp), scale));
    const dLogits = withEntropy ? add(fromLogp, entropyPart(ops, chunk, mul(column(dentropy), scale))) : fromLogp; // [C, V]
    if (needHidden) dHidden.push(matMul(dLogits, weight));
    if (needWeight) {
      const part = matMul(dLogits, chunk.hidden, true, false);
      dWeight = dWeight === null ? part : add(dWeight, part);
    }
    for (const handle of [slope, logits, loss, fromLogp, dLogits]) ops.free(handle);
  }
  const none = (): Handle => ops.scalar(0);
  return [needHidden ? concat(dHidden, 0) : none(), dWeight ?? none()];
}

interface Chunk {
  readonly first: number;
  readonly rows: number;
  /** The rows of hidden states, not yet divided by the temperature. [C, D] */
  readonly hidden: Handle;
  readonly logits: Handle; // [C, V]
  /** −log p(target) [C] */
  readonly loss: Handle;
  /** p − onehot(target) [C, V] */
  readonly slope: Handle;
}

function* chunks(ops: Ops, hidden: Handle, weight: Handle, targets: Handle, temperature: number): Generator<Chunk> {
  const { mul, slice } = maths(ops);
  const [n = 0, d = 0] = hidden.shape;
  const [vocabulary = 1] = weight.shape;
  const most = Math.max(1, Math.floor(CHUNK_FLOATS / vocabulary));
  for (let first = 0; first < n; first += most) {
    const rows = Math.min(most, n - first);
    const part = rows === n ? hidden : slice(hidden, [first, 0], [rows, d]);
    const labels = rows === n ? targets : slice(targets, [first], [rows]);
    const scaled = temperature === 1 ? part : mul(part, ops.scalar(1 / temperature));
    const logits = linearProduct(ops, scaled, weight);
    const attrs = [typeAttr(ops.backend, 'T', FLOAT), typeAttr(ops.backend, 'Tlabels', INT32)];
    const [loss, slope] = ops.runMany('SparseSoftmaxCrossEntropyWithLogits', [logits, labels], attrs, 2) as [
      Handle,
      Handle,
    ];
    yield { first, rows, hidden: part, logits, loss, slope };
  }
}

/** dH/dlogit = −p·(log p + H); `weight` [C, 1] carries the minus sign. */
function entropyPart(ops: Ops, { logits, loss, slope, rows }: Chunk, weight: Handle): Handle {
  const { add, mul, reshape, softmax, sub, sum } = maths(ops);
  const p = softmax(logits);
  const column = (x: Handle): Handle => reshape(x, [rows, 1]);
  const entropy = column(sub(loss, sum(mul(slope, logits), 1, false)));
  // log p = logit − lse, and lse = H + Σ p·logit.
  const lse = add(entropy, sum(mul(p, logits), 1));
  return mul(mul(p, add(sub(logits, lse), entropy)), weight);
}
