/**
 * GRPO (Shao et al. 2024, arXiv 2402.03300) as TRL 1.13 runs it. In each step:
 *
 *   sample G completions of each of P prompts      (every steps_per_generation x num_iterations micro-batches)
 *   score them:        r = sum over reward functions of weight * reward
 *   advantages:        A = (r - mean of the group) / (std of the group + 1e-4)
 *   loss:              -min(ratio * A, clip(ratio, 1-eps, 1+eps_high) * A) + beta * KL(policy || reference), per token
 *   step:              AdamW on gradients clipped to max_grad_norm
 *   report, checkpoint
 *
 * Variant: loss type, reward scaling, KL estimator and clipping are settings (losses.ts has the formulas); the
 * defaults are TRL's: dapo normalisation, group-scaled rewards, no KL. Deviations from TRL: whole groups are shuffled
 * rather than rows, so that a group shares its prompt's forward pass (batching.ts); random numbers are our own.
 */
import * as tf from '@tensorflow/tfjs-core';
import {
  type BatchPlan,
  beginsWithGeneration,
  epochAfter,
  generationRecords,
  microBatches,
  planBatches,
} from './batching/batching.ts';
import type { Generation, SavedGeneration, ScoredGeneration } from './batching/generation.ts';
import type { RunIo } from './host/run-io.ts';
import { microBatchLoss, rowLogps } from './losses/micro-batch-loss.ts';
import { StepAccumulator } from './monitor/metrics.ts';
import { accumulateGradients, type Gradients } from './optimizer.ts';
import { generationMetrics, sampleCompletions, samplesOf, scoreCompletions, tokensOf } from './rollout.ts';
import { learningRate } from './schedule.ts';
import type { Session } from './session.ts';

/** Trains for the configured number of steps; `io` reports, saves and receives commands. */
export async function trainGrpo(session: Session, io: RunIo): Promise<void> {
  const { config, optimizer } = session;
  const plan = planBatches(config, session.records.length);
  let generation: ScoredGeneration | null = io.restoreGeneration((saved) => rescore(session, plan, saved));

  io.begin();
  for (let step = io.firstStep; step < config.max_steps; step++) {
    if ((await io.control.checkIn(step)) === 'stop') return io.finish(step, true);
    const metrics = new StepAccumulator();
    const rate = learningRate(config, step);
    let gradients: Gradients | null = null;
    let loss = 0;
    try {
      for (const micro of microBatches(plan, step)) {
        if (micro.generate || generation === null) {
          generation = generateAndScore(session, plan, micro.generation, io);
          metrics.add(generationMetrics(session.task, generation, config));
          io.addTokens(tokensOf(generation, plan.groupSize));
        }
        const scored = generation;
        const result = io.phases.time('loss', () => microBatchLoss(session, plan, scored, micro));
        gradients = accumulateGradients(gradients, result.gradients);
        loss += result.loss;
        metrics.add(result.metrics);
      }
      const { gradNorm } = io.phases.time('optimizer', () => optimizer.update(gradients ?? {}, rate));
      metrics.set({ loss, grad_norm: gradNorm, learning_rate: rate, epoch: epochAfter(plan, step) });
    } finally {
      tf.dispose(gradients ?? {});
    }
    // Even if an earlier step sampled them: otherwise steps that share a generation would hardly ever store any.
    if (generation !== null && io.keepsSamples(step + 1))
      io.emit({ kind: 'samples', step: step + 1, samples: samplesOf(session.task, generation, config) });
    io.holdGeneration(beginsWithGeneration(plan, step + 1) ? null : generation);
    await io.endStep(step + 1, metrics.take());
  }
  return io.finish(config.max_steps, false);
}

/** Samples, scores and, if the policy will change before all rows are used, keeps their log-probabilities. */
function generateAndScore(session: Session, plan: BatchPlan, number: number, io: RunIo): ScoredGeneration {
  const { policy, config, task, maxCompletionLength } = session;
  const prompts = promptsOf(session, plan, number);
  const completions = io.phases.time('rollout', () =>
    sampleCompletions(policy, prompts, number, maxCompletionLength, config, {
      onToken: () => io.emit({ kind: 'alive' }),
    }),
  );
  const generation = io.phases.time('reward', () =>
    scoreCompletions(task, number, prompts, completions, session.decode, config),
  );
  return io.phases.time('loss', () => ({
    ...generation,
    oldLogps: plan.needsOldLogps ? rowLogps(policy, plan, generation, config) : null,
    refLogps: referenceLogps(session, plan, generation),
  }));
}

/** Once per generation: the reference never changes, and every pass over the rows needs the same numbers. */
function referenceLogps(
  { reference, config }: Session,
  plan: BatchPlan,
  generation: Generation,
): readonly Float32Array[] | null {
  return reference === null ? null : rowLogps(reference, plan, generation, config);
}

/** Restores a generation from a checkpoint; the reference log-probabilities are recomputed. */
function rescore(session: Session, plan: BatchPlan, saved: SavedGeneration): ScoredGeneration {
  const prompts = promptsOf(session, plan, saved.number);
  const generation = scoreCompletions(
    session.task,
    saved.number,
    prompts,
    saved.completions,
    session.decode,
    session.config,
  );
  return {
    ...generation,
    oldLogps: saved.oldLogps?.map((row) => Float32Array.from(row)) ?? null,
    refLogps: referenceLogps(session, plan, generation),
  };
}

function promptsOf(session: Session, plan: BatchPlan, number: number) {
  return generationRecords(plan, number).map((index) => {
    const record = session.records[index];
    if (record === undefined) throw new Error(`Expected record ${index} of ${session.records.length}`);
    return record;
  });
}
