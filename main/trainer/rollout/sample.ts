/** The first third of a rollout: completions are sampled. P prompts, G completions per prompt. */
import { hashString } from '../../random.ts';
import type { Played } from '../../samples/completion.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { TrainConfig } from '../config/config.ts';
import { type EpisodeContext, sampleEpisodes } from './episodes.ts';

const ROLLOUT_STREAM = hashString('rollout');

export interface SampleOptions {
  /** Called after each decoding step. */
  readonly onToken?: () => void;
  /** With dynamic sampling, how often groups of this generation were sampled before. */
  readonly round?: number;
}

/** Samples G completions of every prompt, each up to an end token (the environment's end) or `maxNewTokens`. */
export function sampleCompletions(
  context: EpisodeContext,
  prompts: readonly TokenRecord[],
  number: number,
  maxNewTokens: number,
  config: TrainConfig,
  { onToken, round = 0 }: SampleOptions = {},
): Promise<readonly Played[]> {
  return sampleEpisodes(context, prompts, {
    numGenerations: config.num_generations,
    maxNewTokens,
    temperature: config.temperature,
    topK: config.top_k,
    topP: config.top_p,
    minP: config.min_p,
    repetitionPenalty: config.repetition_penalty,
    coordinates: [config.seed, ROLLOUT_STREAM, number, ...(round === 0 ? [] : [round])],
    ...(onToken && { onToken }),
  });
}
