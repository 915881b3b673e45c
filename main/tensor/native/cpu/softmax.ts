import { BFLOAT16, type Handle, INT32 } from '../ops.ts';
import { type Call, expectShape, matrixSize } from './kernel.ts';
import type { RegisterCpu } from './register.ts';

// N tokens, D width, V vocabulary, B rows.

/** Floats of logits in flight at a time: 64 MiB. Fewer would cost more, as the weight is packed for each chunk. */
const CHUNK_FLOATS = 2 ** 24;
/** Floats of probabilities that are kept for the gradient: 128 MiB. What would be more is computed anew. */
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
    const { hidden, weight, targets, sizes } = inputsOf(call);
    const [n, , vocabulary] = sizes;
    const kept = n * vocabulary <= KEPT_FLOATS;
    const [logps, entropies] = [call.output([n]), call.output([n])];
    const probabilities = call.output(kept ? [n, vocabulary] : [0]);
    const tensors = [hidden, weight, targets, logps, entropies, probabilities];
    call.run('logSoftmax', tensors, [...sizes, ...settings(call.attrs, kept, weight)]);
    return [logps, entropies, probabilities];
  });
  register<GradAttrs>('SelectiveLogSoftmaxGrad', (call) => {
    const { hidden, weight, targets, sizes } = inputsOf(call);
    const { needHidden, needWeight } = call.attrs;
    const [dlogp, dentropy, entropy, state] = ['dlogp', 'dentropy', 'entropy', 'lse'].map((name) =>
      call.input(name),
    ) as [Handle, Handle, Handle, Handle];
    const withEntropy = call.host('dentropy').some((value) => value !== 0);
    const kept = state.shape.length === 2 && !withEntropy;
    const dHidden = call.output(needHidden ? hidden.shape : []);
    const dWeight = call.output(needWeight ? weight.shape : []);
    const tensors = [dlogp, dentropy, hidden, weight, targets, entropy, state, dHidden, dWeight];
    const asked = [needHidden, needWeight, withEntropy].map(Number);
    call.run('logSoftmaxGrad', tensors, [...sizes, ...settings(call.attrs, kept, weight), ...asked]);
    return [dHidden, dWeight];
  });
  register<Attrs>('SampleRows', (call) => {
    const [logits, uniforms] = [call.input('logits'), call.input('uniforms')];
    const [rows, vocabulary] = matrixSize('logits', logits);
    expectShape('uniforms', uniforms, [rows]);
    const outputs = [call.output([rows], INT32), call.output([rows])];
    call.run('sample', [logits, uniforms, ...outputs], [rows, vocabulary, call.attrs.temperature]);
    return outputs;
  });
}

function inputsOf(call: Call<unknown>) {
  const [hidden, weight, targets] = [call.input('hidden'), call.weight('weight'), call.input('targets')];
  const [n, width] = matrixSize('hidden', hidden);
  const [vocabulary] = matrixSize('weight', weight);
  expectShape('weight', weight, [vocabulary, width]);
  expectShape('targets', targets, [n]);
  return { hidden, weight, targets, sizes: [n, width, vocabulary] as const };
}

function settings({ temperature }: Attrs, kept: boolean, weight: Handle): readonly number[] {
  const [vocabulary = 1] = weight.shape;
  const rows = kept ? 2 ** 30 : Math.max(1, Math.floor(CHUNK_FLOATS / vocabulary));
  return [temperature, rows, kept ? 1 : 0, weight.dtype === BFLOAT16 ? 1 : 0];
}
