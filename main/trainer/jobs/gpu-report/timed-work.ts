/** What the GPU report and scripts/bench/webgpu-programs.ts time: sampling after one prompt, and a training pass. */
import * as tf from '@tensorflow/tfjs-core';
import { generate } from '../../../model/generate.ts';
import { type Adapter, adapterParameters } from '../../../model/lora.ts';
import type { Model } from '../../../model/model.ts';
import { UNFILTERED } from '../../../model/sampler.ts';
import type { DeviceBatch } from '../../batching/packed-batch.ts';
import { completionLogps, lossAndGradients } from '../../policy/policy.ts';

export const LORA = {
  r: 16,
  alpha: 32,
  useRslora: false,
  targetModules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};

/** Tokens of a prompt that says nothing. */
export function promptOf(tokens: number, vocabSize: number): number[] {
  return Array.from({ length: tokens }, (_, i) => (7 * i) % vocabSize);
}

/** Samples `rows` completions of exactly so many tokens. */
export function sampleRows(
  model: Model,
  adapter: Adapter,
  promptIds: readonly number[],
  { rows, tokens }: { readonly rows: number; readonly tokens: number },
): void {
  generate(model, adapter, [promptIds], {
    numGenerations: rows,
    maxNewTokens: tokens,
    eosTokenIds: [],
    coordinates: [1],
    temperature: 1,
    ...UNFILTERED,
  });
}

/** The gradient of a batch's log-probabilities, layers computed twice; waits for its first tensor. */
export function trainingPass(model: Model, adapter: Adapter, batch: DeviceBatch): void {
  tf.tidy(() => {
    const loss = (): tf.Scalar => tf.sum(completionLogps({ model, adapter }, batch, 1, { checkpointing: true }).logps);
    lossAndGradients(loss, adapterParameters(adapter)).grads[0]?.dataSync();
  });
}
