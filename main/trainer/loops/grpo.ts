/**
 * GRPO (Shao et al. 2024, arXiv 2402.03300) as TRL 1.13 runs it:
 *
 *   warm-up:           supervised steps on the records' targets, then a fresh optimiser         (off by default)
 *
 * and in each step:
 *
 *   AdaRFT:            prompts of a difficulty that follows the mean reward                     (off by default)
 *   GRESO:             skip prompts whose last groups were without spread, by chance            (off by default)
 *   sample G completions of each of P prompts      (every steps_per_generation x num_iterations micro-batches)
 *   score them:        r = sum over reward functions of weight * reward
 *   dynamic sampling:  other prompts in place of groups without spread in r                     (off by default)
 *   PODS:              of each group, train on the part whose rewards have the largest variance (off by default)
 *   advantages:        A = (r - mean of the group) / (std of the group + 1e-4)
 *   loss:              -min(ratio * A, clip(ratio, 1-eps, 1+eps_high) * A) + beta * KL(policy || reference), per token
 *   step:              AdamW on gradients clipped to max_grad_norm
 *   report, checkpoint
 *
 * Variant: loss type, reward scaling, KL estimator and clipping are settings (losses.ts has the formulas); the
 * defaults are TRL's: dapo normalisation, group-scaled rewards, no KL. Deviations from TRL: whole groups are shuffled
 * rather than rows, so that a group shares its prompt's forward pass (batching.ts); random numbers are our own.
 */
import { beginsWithGeneration, epochAfter, microBatches, planBatches } from '../batching/batching.ts';
import type { ScoredGeneration } from '../batching/generation.ts';
import { difficultiesOf } from '../batching/prompts.ts';
import { totalSteps } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { adjustedEntropy, appliedCoefficient, startOfEntropy, type TokenSum } from '../losses/adaptive-entropy.ts';
import { checkNorm } from '../losses/not-finite.ts';
import { StepAccumulator } from '../monitor/metrics.ts';
import { learningRate } from '../optim/schedule.ts';
import { syncsAfter } from '../policy/reference.ts';
import { samplesOf } from '../rollout/report.ts';
import type { Stage } from '../stage/stage.ts';
import { generateAndScore, restoreGeneration } from './next-generation.ts';
import type { RunIo } from './run-io.ts';
import { warmUp } from './warm-up.ts';

/** Trains for the configured number of steps; `io` reports, saves and receives commands. */
export async function trainGrpo(stage: Stage, engine: Engine, io: RunIo): Promise<void> {
  const { config, records, task } = stage;
  const plan = planBatches(config, records.length, difficultiesOf(task, records));
  let prompts = io.prompts;
  let entropy = io.entropy ?? startOfEntropy(config);
  let generation: ScoredGeneration | null = await io.restoreGeneration((saved) =>
    restoreGeneration(stage, engine, plan, saved),
  );

  await io.begin();
  if (!(await warmUp(stage, engine, io))) return;
  for (let done = Math.max(io.firstStep, config.warm_up_steps); done < totalSteps(config); done++) {
    if ((await io.control.checkIn(done)) === 'stop') return io.finish(done, true);
    // Rates, batches and random numbers are those of a run without a warm-up.
    const step = done - config.warm_up_steps;
    const metrics = new StepAccumulator();
    const rate = learningRate(config, step);
    const lossConfig = { ...config, entropy_coef: appliedCoefficient(entropy, config) };
    const entropies: TokenSum[] = [];
    let loss = 0;
    for (const micro of microBatches(plan, step)) {
      if (micro.generate || generation === null) {
        ({ generation, prompts } = await generateAndScore(stage, engine, plan, micro.generation, prompts, io));
        metrics.add(generation.metrics);
      }
      const scored = generation;
      const report = await io.phases.time('loss', () => engine.policyLoss(lossConfig, plan, scored, micro));
      loss += report.loss;
      metrics.add(report.metrics);
      entropies.push(report.entropy);
    }
    const { gradNorm } = await io.phases.time('optimizer', () => engine.step(rate));
    checkNorm(gradNorm, task.rewardNames, generation);
    metrics.set({ loss, learning_rate: rate, epoch: epochAfter(plan, step, prompts.extra) });
    if (gradNorm !== null) metrics.set({ grad_norm: gradNorm });
    if (syncsAfter(step + 1, config)) engine.syncReference();
    if (config.use_adaptive_entropy) {
      entropy = adjustedEntropy(entropy, entropies, config);
      metrics.set({ entropy_coef: entropy.coefficient });
      io.holdEntropy(entropy);
    }
    // Even if an earlier step sampled them: otherwise steps that share a generation would hardly ever store any.
    if (generation !== null && io.keepsSamples(done + 1))
      io.emit({
        kind: 'samples',
        step: done + 1,
        samples: samplesOf(task, generation, plan.groupSize),
      });
    io.holdGeneration(beginsWithGeneration(plan, step + 1) ? null : generation, prompts);
    await io.endStep(done + 1, metrics.take());
  }
  return io.finish(totalSteps(config), false);
}
