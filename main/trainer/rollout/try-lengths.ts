/** Samples a few completions before the first step, to see how long they get. */
import { hashString } from '../../random.ts';
import { chooseLimit, lengthsAt } from '../batching/completion-lengths.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { TrainConfig } from '../config/config.ts';
import type { SampledLengths } from '../protocol/trainer-events.ts';
import { type EpisodeContext, sampleEpisodes } from './episodes.ts';

/** Prompts, and completions of each: enough for a share, and together hardly slower than one. */
const PROMPTS = 8;
const EACH = 2;
const STREAM = hashString('lengths');

interface Tokens {
  readonly records: readonly TokenRecord[];
  /** Tokens by the targets, and up to which completions are tried: equal where the limit is settled. */
  readonly maxCompletionLength: number;
  readonly trialLength: number;
  readonly config: TrainConfig;
}

/** The limit that they lead to, and what it makes of them. */
export async function tryLengths(
  context: EpisodeContext,
  { records, maxCompletionLength, trialLength, config }: Tokens,
): Promise<{ readonly maxCompletionLength: number; readonly sampled: SampledLengths }> {
  // At equal distances: the records of a file may be sorted.
  const every = Math.max(1, records.length / PROMPTS);
  const prompts = records.filter((_, i) => Math.floor(i / every) !== Math.floor((i - 1) / every));
  const completions = await sampleEpisodes(context, prompts, {
    numGenerations: EACH,
    maxNewTokens: trialLength,
    temperature: config.temperature,
    topK: config.top_k,
    topP: config.top_p,
    minP: config.min_p,
    repetitionPenalty: config.repetition_penalty,
    coordinates: [config.seed, STREAM],
  });
  const tried = completions.map(({ ids, terminated }) => ({ tokens: ids.length, ended: terminated }));
  const limit = trialLength > maxCompletionLength ? chooseLimit(tried, maxCompletionLength) : maxCompletionLength;
  return { maxCompletionLength: limit, sampled: lengthsAt(limit, tried) };
}
