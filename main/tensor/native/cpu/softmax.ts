import { roundsProducts } from '../../compute-dtype.ts';
import { type Handle, INT32 } from '../ops.ts';
import type { RegisterCpu } from './kernel.ts';
import { type Call, matrixSize } from './kernel.ts';

// N tokens, D width, V vocabulary, B rows.

/** Floats of logits in flight at a time: 64 MiB. Fewer would cost more, as the weight is packed for each chunk. */
const CHUNK_FLOATS = 2 ** 24;
/** Floats of probabilities that are kept for the gradient: 128 MiB. What would be more is computed again. */
const KEPT_FLOATS = 2 ** 25;

interface Attrs {
  readonly temperature: number;
}

interface GradAttrs extends Attrs {
  readonly needHidden: boolean;
  readonly needWeight: boolean;
}

export function registerSoftmax(register: RegisterCpu): void {
  register<Attrs>('SelectiveLogSoftmax', (call) => {
    const { hidden, weight, targets } = inputsOf(call);
    const [n] = matrixSize('hidden', hidden);
    const [vocabulary] = matrixSize('weight', weight);
    const [logps, entropies] = [call.output([n]), call.output([n])];
    const probs = call.output(n * vocabulary <= KEPT_FLOATS ? [n, vocabulary] : [0]);
    call.run('logSoftmax', { hidden, weight, targets, logps, entropies, probs }, settings(call.attrs, weight));
    return [logps, entropies, probs];
  });
  register<GradAttrs>('SelectiveLogSoftmaxGrad', (call) => {
    const { hidden, weight, targets } = inputsOf(call);
    const saved = { entropy: call.input('entropy'), probs: call.input('lse') };
    const withEntropy = call.host('dentropy').some((value) => value !== 0);
    const given = { dlogp: call.input('dlogp'), dentropy: withEntropy ? call.input('dentropy') : undefined };
    const dHidden = call.attrs.needHidden ? call.output(hidden.shape) : undefined;
    const dWeight = call.attrs.needWeight ? call.output(weight.shape) : undefined;
    const tensors = { ...given, hidden, weight, targets, ...saved, dHidden, dWeight };
    call.run('logSoftmaxGrad', tensors, settings(call.attrs, weight));
    return [dHidden ?? call.output([]), dWeight ?? call.output([])];
  });
  register<Attrs>('SampleRows', (call) => {
    const [logits, uniforms] = [call.input('logits'), call.input('uniforms')];
    const [rows] = matrixSize('logits', logits);
    const [ids, logps] = [call.output([rows], INT32), call.output([rows])];
    call.run('sample', { logits, uniforms, ids, logps }, { temperature: call.attrs.temperature });
    return [ids, logps];
  });
}

function inputsOf(call: Call<unknown>) {
  return { hidden: call.input('hidden'), weight: call.weight('weight'), targets: call.input('targets') };
}

function settings({ temperature }: Attrs, weight: Handle): Readonly<Record<string, number | boolean>> {
  const [vocabulary = 1] = weight.shape;
  const chunkRows = Math.max(1, Math.floor(CHUNK_FLOATS / Math.max(1, vocabulary)));
  return { temperature, chunkRows, bfloat16: roundsProducts() };
}
