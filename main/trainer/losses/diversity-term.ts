/**
 * The second term of polychromic SFT: −lambda · D of replies sampled from the policy itself, with the score-function
 * gradient of E[D] (polychromic.ts). P prompts, G completions each.
 *
 * The estimate is unbiased because samples and log-probabilities come from the same distribution: full softmax at
 * `temperature`, cut at max_completion_length. Filters (top_k, top_p, min_p, repetition_penalty) would break that and
 * are refused by the configuration.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { Generation } from '../batching/generation.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { Metrics } from '../events.ts';
import type { RunIo } from '../host/run-io.ts';
import { withinMemory } from '../memory/within-memory.ts';
import { accumulateGradients, type Gradients } from '../optimizer.ts';
import { completionLogps, lossAndGradients } from '../policy.ts';
import { groupsOfRows, sampleCompletions } from '../rollout.ts';
import type { Session } from '../session.ts';
import { keepByName, partsOf, withBatch } from './micro-batch-loss.ts';
import { diversityCredits } from './polychromic.ts';

/** The term added to a step's loss and gradient. */
export interface LossTerm {
  readonly loss: number;
  /** By parameter; the caller disposes of them. */
  readonly gradients: Gradients;
  readonly metrics: Metrics;
}

/** Samples replies to the prompts and gives −lambda · D and its gradient. `number` determines the random numbers. */
export function diversityTerm(session: Session, prompts: readonly TokenRecord[], number: number, io: RunIo): LossTerm {
  const { config, policy, maxCompletionLength } = session;
  const size = config.num_generations;
  const completions = io.phases.time('rollout', () =>
    sampleCompletions(policy, prompts, number, maxCompletionLength, config),
  );
  const texts = completions.map(({ ids }) => session.decode(ids));
  const groups = prompts.map((_, p) => diversityCredits(texts.slice(p * size, (p + 1) * size)));
  const scale = config.polychromic_lambda / prompts.length;
  const weights = groups.flatMap(({ credits }) => credits.map((credit) => -scale * credit));
  io.addTokens(
    completions.reduce(
      (sum, { ids }, row) => sum + ids.length + (prompts[Math.floor(row / size)]?.promptIds.length ?? 0),
      0,
    ),
  );

  const generation = { prompts, completions };
  const gradients = withinMemory(policy.model, config.activation_memory_mb, (activation_memory_mb) =>
    termGradients(session, generation, weights, { ...config, activation_memory_mb }),
  );
  const diversity = groups.reduce((sum, group) => sum + group.diversity, 0) / groups.length;
  return {
    loss: -config.polychromic_lambda * diversity,
    gradients,
    metrics: { 'polychromic/diversity': diversity },
  };
}

/** The gradient of Σ weight · log p, in parts that fit. */
function termGradients(
  { policy, parameters }: Session,
  generation: Pick<Generation, 'prompts' | 'completions'>,
  weights: readonly number[],
  config: Session['config'],
): Gradients {
  const size = config.num_generations;
  const all = { first: 0, end: generation.completions.length };
  const { parts, checkpointing } = partsOf(policy, generation, all, size, config);
  let gradients: Gradients | null = null;
  try {
    for (const { first, end } of parts) {
      const more = withBatch(groupsOfRows(generation, first, end, size), undefined, (batch) =>
        tf.tidy(() => {
          const byRow = tf.tensor2d(weights.slice(first, end), [end - first, 1]);
          const loss = (): tf.Scalar =>
            tf.sum(tf.mul(completionLogps(policy, batch, config.temperature, { checkpointing }).logps, byRow));
          return keepByName(parameters, lossAndGradients(loss, parameters).grads);
        }),
      );
      gradients = accumulateGradients(gradients, more);
    }
    return gradients ?? {};
  } catch (error) {
    tf.dispose(gradients ?? {});
    throw error;
  }
}
