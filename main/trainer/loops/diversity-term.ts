/**
 * The second term of polychromic SFT: −lambda · D of replies sampled from the policy itself, with the score-function
 * gradient of E[D] (polychromic.ts). P prompts, G completions each.
 *
 * The estimate is unbiased because samples and log-probabilities come from the same distribution: full softmax at
 * `temperature`, cut at max_completion_length. Filters (top_k, top_p, min_p, repetition_penalty) would break that and
 * are refused by the configuration.
 */

import { diversityCredits } from '../advantages/polychromic.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { Engine } from '../engine/engine.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import { sampleCompletions } from '../rollout/sample.ts';
import type { Stage } from '../stage/stage.ts';
import type { RunIo } from './run-io.ts';

/** The term added to a step's loss. */
export interface LossTerm {
  readonly loss: number;
  readonly metrics: Metrics;
}

/** Samples replies to the prompts and adds the gradient of −lambda · D. `number` determines the random numbers. */
export async function diversityTerm(
  stage: Stage,
  engine: Engine,
  prompts: readonly TokenRecord[],
  number: number,
  io: RunIo,
): Promise<LossTerm> {
  const { config, maxCompletionLength } = stage;
  const size = config.num_generations;
  const completions = await io.phases.time('rollout', () =>
    sampleCompletions({ ...stage, engine }, prompts, number, maxCompletionLength, config),
  );
  const texts = completions.map(({ ids }) => stage.decode(ids));
  const groups = prompts.map((_, p) => diversityCredits(texts.slice(p * size, (p + 1) * size)));
  const scale = config.polychromic_lambda / prompts.length;
  const dlogp = groups.flatMap(({ credits }) => credits.map((credit) => -scale * credit));
  io.addTokens(
    completions.reduce(
      (sum, { ids }, row) => sum + ids.length + (prompts[Math.floor(row / size)]?.promptIds.length ?? 0),
      0,
    ),
  );
  await engine.backward({ prompts, completions }, size, dlogp);
  const diversity = groups.reduce((sum, group) => sum + group.diversity, 0) / groups.length;
  return { loss: -config.polychromic_lambda * diversity, metrics: { 'polychromic/diversity': diversity } };
}
