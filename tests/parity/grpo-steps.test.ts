/**
 * Whole optimiser steps against TRL's `train()` on the same completions and rewards: see grpo_steps.py. The losses
 * are those of main/trainer/loops/grpo.ts; only sampling and scoring are replaced.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../main/model/load.ts';
import { adapterParameters, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, trainableParameters } from '../../main/model/model.ts';
import { loadAdapter } from '../../main/model/peft.ts';
import { computeAdvantages } from '../../main/trainer/advantages/advantages.ts';
import { type BatchPlan, microBatches, planBatches } from '../../main/trainer/batching/batching.ts';
import type { ScoredGeneration } from '../../main/trainer/batching/generation.ts';
import { parseConfig, type RunConfig } from '../../main/trainer/config/config.ts';
import { microBatchLoss, rowLogps } from '../../main/trainer/local/micro-batch-loss.ts';
import {
  completionMetrics,
  generationTokens,
  rewardMetrics,
  StepAccumulator,
} from '../../main/trainer/monitor/metrics.ts';
import { AdamW, accumulateGradients, type Gradients } from '../../main/trainer/optim/optimizer.ts';
import { learningRate } from '../../main/trainer/optim/schedule.ts';
import type { Policy } from '../../main/trainer/policy/policy.ts';
import type { Metrics } from '../../main/trainer/protocol/trainer-events.ts';
import { openTestBackends } from '../backends.ts';
import { expectAllClose, expectClose, expectNames, RELATIVE } from './closeness.ts';

interface Rollouts {
  readonly prompts: readonly (readonly number[])[];
  readonly completions: readonly (readonly number[])[];
  readonly rewards: readonly number[];
}
interface StepsCase {
  readonly base: string;
  readonly adapter: string | null;
  readonly settings: Partial<RunConfig>;
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
/** They take seconds on the portable backend. */
const SLOW = ['families/qwen3.5', 'families/gemma4', 'families/granite4-mamba'];
/** AdamW divides by the gradient's own size, so the rounding of each step is carried into the next. */
const LATER = 5 * RELATIVE;
/**
 * Of all of Gemma 4's weights: scores that nothing divides make much of rounding. Of the gradient in float64, TRL's in
 * float32 is 3.1e-5 off, ours on wasm 8.9e-5, on the portable backend 1.1e-5.
 */
const OF_GEMMA_4 = 15 * RELATIVE;
/**
 * One unit in the last place of a log-probability between -4 and -8, as those of these random models are. The loss is a
 * mean of advantage · exp(logp − oldLogp), and advantages sum to about 0: what is left of it is how differently two passes
 * round logp, at most this much times an advantage of about 1. Which pass rounds how depends on the vectors' width.
 */
const LOGP_ROUNDING = 2 ** -21;
/** That of the families' weights, which are larger: 3e-5 between torch and the portable backend. */
const FAMILY_ROUNDING = 2 ** -15;

/** How far a metric may be off because log-probabilities are rounded: a KL of exp(d) - d - 1 by about d times as much. */
function roundingOf(name: string, value: number, base: string): number | undefined {
  const isFamily = base.startsWith('families/');
  if (name === 'loss') return base === 'families/qwen3.5' ? FAMILY_ROUNDING : LOGP_ROUNDING;
  return name === 'kl' && isFamily ? FAMILY_ROUNDING * Math.sqrt(2 * value) : undefined;
}

/** Loads policy and reference as TRL holds them: the model or adapter trained, and a frozen copy of it. */
function open(reference: StepsCase): Policy & { dispose(): void } {
  const model = loadModel(path(reference.base), 64);
  const adapter = reference.adapter === null ? null : loadAdapter(path(reference.adapter), model);
  const dispose = (): void => {
    if (adapter !== null) disposeAdapter(adapter);
    disposeModel(model);
  };
  return { model, adapter, dispose };
}

/** Runs all steps of a case; gives the metrics of each and the parameters before and after. */
function train(reference: StepsCase) {
  const parsed = parseConfig({
    num_generations: fixture.group,
    per_device_train_batch_size: 4,
    shuffle_dataset: false,
    ...reference.settings,
  });
  const config: RunConfig = { ...parsed, activation_memory_mb: 1024 };
  const plan = planBatches(config, 64);
  const policy = open(reference);
  const frozen = open(reference);
  const parameters = policy.adapter === null ? trainableParameters(policy.model) : adapterParameters(policy.adapter);
  const start = parameters.map(({ value }) => Float32Array.from(value.dataSync()));
  const optimizer = new AdamW(parameters, config);
  const logs: Metrics[] = [];
  let tokens = 0;
  let scored: ScoredGeneration | null = null;
  const context = { config, policy, parameters, maxCompletionLength: fixture.max_completion_length };

  for (let step = 0; step < config.max_steps; step++) {
    const metrics = new StepAccumulator();
    let gradients: Gradients | null = null;
    let loss = 0;
    for (const micro of microBatches(plan, step)) {
      if (micro.generate || scored === null) {
        scored = score(rollouts(reference, micro.generation), micro.generation, config);
        scored = { ...scored, ...logps(scored, plan, config, policy, frozen) };
        metrics.add(metricsOf(scored));
        tokens += tokensOf(scored);
        metrics.set({ num_tokens: tokens });
      }
      const result = microBatchLoss(context, plan, scored, micro);
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

function rollouts(reference: StepsCase, number: number): Rollouts {
  const found = reference.generations[number];
  if (found === undefined) throw new Error(`Expected generation ${number} in the fixture`);
  return found;
}

/** A generation as the trainer holds it, of the completions and rewards that TRL was given. */
function score(given: Rollouts, number: number, config: RunConfig): ScoredGeneration {
  const rewards = [given.rewards];
  return {
    number,
    prompts: given.prompts.map((promptIds, i) => ({ record: { id: `${i}`, prompt: '' }, promptIds, targetIds: [] })),
    completions: given.completions.map((ids) => ({ ids: [...ids], terminated: ids.at(-1) === EOS })),
    records: [],
    texts: [],
    failures: [],
    rewards,
    result: computeAdvantages(rewards, config),
    oldLogps: null,
    refLogps: null,
    metrics: {},
  };
}

/** What the trainer keeps of a generation's rows: the sampling policy's and the reference's log-probabilities. */
function logps(scored: ScoredGeneration, plan: BatchPlan, config: RunConfig, policy: Policy, frozen: Policy) {
  return {
    oldLogps: plan.needsOldLogps ? rowLogps(policy, plan, scored, config) : null,
    refLogps: config.beta === 0 ? null : rowLogps(frozen, plan, scored, config),
  };
}

function lengthsOf({ completions, prompts }: ScoredGeneration) {
  const promptLengths = completions.map((_, row) => prompts[Math.floor(row / fixture.group)]?.promptIds.length ?? 0);
  return { lengths: completions.map(({ ids }) => ids.length), promptLengths };
}

function tokensOf(scored: ScoredGeneration): number {
  const { lengths, promptLengths } = lengthsOf(scored);
  return generationTokens(promptLengths, lengths);
}

function metricsOf(scored: ScoredGeneration): Metrics {
  const ended = scored.completions.map(({ terminated }) => terminated);
  return {
    ...rewardMetrics(['first'], scored.rewards, scored.result),
    ...completionMetrics(lengthsOf(scored).lengths, ended),
  };
}

describe.each(backends)('optimiser steps on $name', (backend) => {
  beforeAll(backend.use);

  it.each(
    // Of cases that train the same model in other ways, a slow one takes the first.
    fixture.cases
      .filter(({ base }, i) => !backend.slow || (base.startsWith('models/') && i < 3))
      .filter(({ base }) => backend.name !== 'cpu' || !SLOW.includes(base))
      .map((c) => [`${c.base} ${c.adapter ?? 'all weights'} ${JSON.stringify(c.settings)}`, c] as const),
  )('%s', (_, reference) => {
    const { logs, after } = train(reference);
    const isRounded = reference.base === 'families/gemma4' && reference.adapter === null;
    const [first, later] = isRounded ? [OF_GEMMA_4, 5 * OF_GEMMA_4] : [RELATIVE, LATER];
    for (const [step, theirs] of reference.logs.entries()) {
      const ours = logs[step] ?? {};
      expectNames(ours, theirs);
      for (const [name, value] of Object.entries(theirs)) {
        const absolute = roundingOf(name, value, reference.base);
        expectClose(ours[name], value, `${name} of step ${step}`, step === 0 ? first : later, absolute);
      }
    }
    for (const { name, first: values, moved } of after) {
      const theirs = reference.parameters[name];
      if (theirs === undefined) throw new Error(`Expected "${name}" among TRL's parameters`);
      expectClose(moved, theirs.moved, `how far ${name} moved`, later);
      expectAllClose(values.slice(0, theirs.first.length), theirs.first, name, later);
    }
    expect(after.length).toBe(Object.keys(reference.parameters).length);
  });
});
