/**
 * Whole GRPO steps as `braid bench` times them, without a model's files: a group is sampled and rewarded, its loss is
 * differentiated by the trainer's own functions, and the optimiser steps.
 */
import { generate } from '../../../model/generate.ts';
import { type Adapter, adapterParameters } from '../../../model/lora.ts';
import type { Model } from '../../../model/model.ts';
import { UNFILTERED } from '../../../model/sampler.ts';
import { computeAdvantages } from '../../advantages/advantages.ts';
import { planBatches } from '../../batching/batching.ts';
import type { ScoredGeneration } from '../../batching/generation.ts';
import { parseConfig } from '../../config/config.ts';
import { microBatchLoss } from '../../local/micro-batch-loss.ts';
import { AdamW } from '../../optim/optimizer.ts';

/** MiB for activations: what takes more is computed by layer, or in parts. */
const ACTIVATION_MB = 4096;

export interface WholeSteps {
  /** One step; whether its update was applied. */
  step(): boolean;
  dispose(): void;
}

/** Steps of one prompt with `rows` completions of `decoded` tokens, which have no end. */
export function openWholeSteps(
  model: Model,
  adapter: Adapter,
  promptIds: readonly number[],
  { rows, decoded }: { readonly rows: number; readonly decoded: number },
): WholeSteps {
  const parsed = parseConfig({
    model: 'random',
    use_peft: true,
    beta: 0,
    learning_rate: 1e-5,
    seed: 1,
    loss_type: 'dapo',
    num_generations: rows,
    per_device_train_batch_size: rows,
    max_completion_length: decoded,
  });
  // What a run's plan would decide: parts of the usual size.
  const config = { ...parsed, activation_memory_mb: parsed.activation_memory_mb ?? ACTIVATION_MB };
  const parameters = adapterParameters(adapter);
  const optimizer = new AdamW(parameters, config);
  const plan = planBatches(config, 1);
  const micro = { generation: 0, generate: true, iteration: 0, firstRow: 0, endRow: rows };
  const context = { config, policy: { model, adapter }, parameters, maxCompletionLength: decoded };
  let number = 0;
  const sampled = (): ScoredGeneration => {
    const completions = generate(model, adapter, [promptIds], {
      numGenerations: rows,
      maxNewTokens: decoded,
      eosTokenIds: [],
      coordinates: [1, number],
      temperature: 1,
      ...UNFILTERED,
    });
    // One that costs nothing and differs within a group: a group of equal rewards has no gradient to compute.
    const rewards = [completions.map(({ ids }, row) => new Set(ids).size + row / rows)];
    return {
      number,
      completions,
      rewards,
      result: computeAdvantages(rewards, config),
      metrics: {},
      prompts: [{ record: { id: 'prompt', prompt: '' }, promptIds, targetIds: [] }],
      records: [0],
      texts: completions.map(() => ''),
      failures: completions.map(() => null),
      oldLogps: null,
      refLogps: null,
    };
  };
  return {
    step: () => {
      const { gradients } = microBatchLoss(context, plan, sampled(), micro);
      const { applied } = optimizer.update(gradients, config.learning_rate);
      for (const gradient of Object.values(gradients)) gradient.dispose();
      number += 1;
      return applied;
    },
    dispose: () => optimizer.dispose(),
  };
}
