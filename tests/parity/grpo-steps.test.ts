/**
 * Whole optimiser steps against TRL's `train()` on the same completions and rewards: see grpo_steps.py. The pieces
 * are those of main/trainer/grpo.ts; only sampling and scoring are replaced.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../main/model/load.ts';
import { adapterParameters, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, modelParameters } from '../../main/model/model.ts';
import type { PromptGroup } from '../../main/model/pack.ts';
import { loadAdapter } from '../../main/model/peft.ts';
import { type Advantages, computeAdvantages } from '../../main/trainer/advantages.ts';
import { type MicroBatch, microBatches, planBatches } from '../../main/trainer/batching.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config.ts';
import type { Metrics } from '../../main/trainer/events.ts';
import { grpoLoss } from '../../main/trainer/loss-op.ts';
import { completionMetrics, generationTokens, rewardMetrics, StepMetrics } from '../../main/trainer/metrics.ts';
import { AdamW, accumulateGradients, type Gradients } from '../../main/trainer/optimizer.ts';
import { disposeBatch, uploadGroups } from '../../main/trainer/packed-batch.ts';
import { completionLogps, hostLogps, lossAndGradients, type Policy } from '../../main/trainer/policy.ts';
import { learningRate } from '../../main/trainer/schedule.ts';
import { openTestBackends } from '../backends.ts';
import { expectAllClose, expectClose, RELATIVE } from './closeness.ts';

interface Rollouts {
  readonly prompts: readonly (readonly number[])[];
  readonly completions: readonly (readonly number[])[];
  readonly rewards: readonly number[];
}
interface StepsCase {
  readonly base: string;
  readonly adapter: string | null;
  readonly settings: Partial<TrainConfig>;
  readonly generations: readonly Rollouts[];
  readonly logs: readonly Readonly<Record<string, number>>[];
  readonly parameters: Readonly<Record<string, { readonly first: number[]; readonly moved: number }>>;
}
interface Fixture {
  readonly group: number;
  readonly max_completion_length: number;
  readonly cases: readonly StepsCase[];
}

const path = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const fixture = JSON.parse(readFileSync(path('grpo-steps.json'), 'utf8')) as Fixture;
const backends = await openTestBackends();
const EOS = 2;
/** AdamW divides by the gradient's own size, so the rounding of each step is carried into the next. */
const LATER = 5 * RELATIVE;

/** Loads policy and reference as TRL holds them: the model or adapter trained, and a frozen copy of it. */
function open(reference: StepsCase): Policy & { dispose(): void } {
  const model = loadModel(path(`models/${reference.base}`), 64);
  const adapter = reference.adapter === null ? null : loadAdapter(path(`adapters/${reference.adapter}`), model);
  const dispose = (): void => {
    if (adapter !== null) disposeAdapter(adapter);
    disposeModel(model);
  };
  return { model, adapter, dispose };
}

/** Runs all steps of a case; gives the metrics of each and the parameters before and after. */
function train(reference: StepsCase) {
  const config = parseConfig({
    num_generations: fixture.group,
    per_device_train_batch_size: 4,
    shuffle_dataset: false,
    ...reference.settings,
  });
  const plan = planBatches(config, 64);
  const policy = open(reference);
  const frozen = open(reference);
  const parameters = policy.adapter === null ? modelParameters(policy.model) : adapterParameters(policy.adapter);
  const start = parameters.map(({ value }) => Float32Array.from(value.dataSync()));
  const optimizer = new AdamW(parameters, config);
  const logs: Metrics[] = [];
  let tokens = 0;
  let scored: Scored | null = null;

  for (let step = 0; step < config.max_steps; step++) {
    const metrics = new StepMetrics();
    let gradients: Gradients | null = null;
    let loss = 0;
    for (const micro of microBatches(plan, step)) {
      if (micro.generate || scored === null) {
        scored = score(rollouts(reference, micro.generation), config, plan.needsOldLogps ? policy : null);
        tokens += scored.tokens;
        metrics.add(scored.metrics);
        metrics.set({ num_tokens: tokens });
      }
      const result = microBatchLoss(policy, frozen, parameters, scored, micro, config, plan.stepsPerGeneration);
      gradients = accumulateGradients(gradients, result.gradients);
      loss += result.loss;
      metrics.add(result.metrics);
    }
    const rate = learningRate(config, step);
    const { gradNorm } = optimizer.update(gradients ?? {}, rate);
    tf.dispose(gradients ?? {});
    metrics.set({ loss, grad_norm: gradNorm, learning_rate: rate });
    logs.push(metrics.take());
  }
  const after = parameters.map(({ name, value }, i) => {
    const values = value.dataSync();
    const moved = Math.hypot(...Array.from(values, (v, k) => v - (start[i]?.[k] ?? 0)));
    return { name, first: values.slice(0, 6), moved };
  });
  optimizer.dispose();
  policy.dispose();
  frozen.dispose();
  return { logs, after };
}

interface Scored extends Rollouts {
  readonly result: Advantages;
  readonly oldLogps: readonly Float32Array[] | null;
  readonly metrics: Metrics;
  readonly tokens: number;
}

function rollouts(reference: StepsCase, number: number): Rollouts {
  const found = reference.generations[number];
  if (found === undefined) throw new Error(`Expected generation ${number} in the fixture`);
  return found;
}

function score(generation: Rollouts, config: TrainConfig, sampler: Policy | null): Scored {
  const rewards = [generation.rewards];
  const result = computeAdvantages(rewards, config);
  const lengths = generation.completions.map(({ length }) => length);
  const ended = generation.completions.map((ids) => ids.at(-1) === EOS);
  const promptLengths = lengths.map((_, row) => generation.prompts[Math.floor(row / fixture.group)]?.length ?? 0);
  const metrics = { ...rewardMetrics(['first'], rewards, result), ...completionMetrics(lengths, ended) };
  const oldLogps =
    sampler === null
      ? null
      : generation.completions.map((ids, row) => {
          const batch = uploadGroups([{ promptIds: promptOf(generation, row), completions: [ids] }]);
          const logps = hostLogps(sampler, batch, config.temperature);
          disposeBatch(batch);
          return logps;
        });
  return { ...generation, result, oldLogps, metrics, tokens: generationTokens(promptLengths, lengths) };
}

function promptOf(generation: Rollouts, row: number): readonly number[] {
  return generation.prompts[Math.floor(row / fixture.group)] ?? [];
}

function microBatchLoss(
  policy: Policy,
  frozen: Policy,
  parameters: readonly { readonly name: string; value: tf.Tensor }[],
  scored: Scored,
  micro: MicroBatch,
  config: TrainConfig,
  stepsPerGeneration: number,
) {
  const rows = scored.completions.slice(micro.firstRow, micro.endRow);
  // One micro-batch is one group here.
  const group: PromptGroup = { promptIds: promptOf(scored, micro.firstRow), completions: rows };
  const batch = uploadGroups([group]);
  const counts = (ids: readonly number[]): boolean => !config.mask_truncated_completions || ids.at(-1) === EOS;
  const pad = (values: readonly ArrayLike<number>[]): Float32Array => {
    const out = new Float32Array(values.length * batch.columns);
    values.forEach((row, i) => {
      out.set(row, i * batch.columns);
    });
    return out;
  };
  const numItemsInBatch = scored.completions.filter(counts).reduce((sum, { length }) => sum + length, 0);
  let metrics: Metrics = {};
  const result = tf.tidy(() => {
    const { value, grads } = lossAndGradients(() => {
      const loss = grpoLoss(
        {
          ...completionLogps(policy, batch, config.temperature),
          oldLogps: scored.oldLogps === null ? null : pad(scored.oldLogps.slice(micro.firstRow, micro.endRow)),
          refLogps: config.beta === 0 ? null : hostLogps(frozen, batch, config.temperature),
          advantages: scored.result.advantages.subarray(micro.firstRow, micro.endRow),
          mask: pad(rows.map((ids) => ids.map(() => (counts(ids) ? 1 : 0)))),
        },
        {
          maxCompletionLength: fixture.max_completion_length,
          numItemsInBatch,
          gradientAccumulationSteps: config.gradient_accumulation_steps,
          stepsPerGeneration,
        },
        config,
      );
      metrics = loss.metrics;
      return loss.loss;
    }, parameters);
    const gradients = Object.fromEntries(parameters.map(({ name }, i) => [name, tf.keep(grads[i] as tf.Tensor)]));
    return { loss: value.dataSync<'float32'>()[0] ?? Number.NaN, gradients };
  });
  disposeBatch(batch);
  return { ...result, metrics };
}

describe.each(backends)('optimiser steps on $name', (backend) => {
  beforeAll(backend.use);

  it.each(
    fixture.cases.map((c) => [`${c.base} ${c.adapter ?? 'all weights'} ${JSON.stringify(c.settings)}`, c] as const),
  )('%s', (_, reference) => {
    const { logs, after } = train(reference);
    for (const [step, theirs] of reference.logs.entries()) {
      const ours = logs[step] ?? {};
      expect(Object.keys(ours).sort()).toEqual(Object.keys(theirs).sort());
      for (const [name, value] of Object.entries(theirs))
        expectClose(ours[name], value, `${name} of step ${step}`, step === 0 ? RELATIVE : LATER);
    }
    for (const { name, first, moved } of after) {
      const theirs = reference.parameters[name];
      if (theirs === undefined) throw new Error(`Expected "${name}" among TRL's parameters`);
      expectClose(moved, theirs.moved, `how far ${name} moved`, LATER);
      expectAllClose(first, theirs.first, name, LATER);
    }
    expect(after.length).toBe(Object.keys(reference.parameters).length);
  });
});
