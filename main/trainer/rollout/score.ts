/**
 * The second third of a rollout: completions are scored, and rewards turned into advantages.
 * P prompts, G completions per prompt, R = P*G rows; row i belongs to group floor(i / G).
 */

import type { Played } from '../../samples/completion.ts';
import { ownText } from '../../tasks/folder/environment.ts';
import { inGroupsOf } from '../../tasks/groups.ts';
import type { Answer, Task } from '../../tasks/task.ts';
import { computeAdvantages, roundingMetrics } from '../advantages/advantages.ts';
import { setAdvantages } from '../advantages/polychromic.ts';
import type { Generation, Rollouts, Scores } from '../batching/generation.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import { ownTokens, promptOfRow } from '../batching/rows.ts';
import { withTaskWeights } from '../config/combinations.ts';
import type { TrainConfig } from '../config/config.ts';
import { checkRewards } from '../losses/not-finite.ts';
import { withFailures } from './failed-rewards.ts';

/** Scores sampled completions; those whose reward failed as the configuration says (failed-rewards.ts). */
export function scoreCompletions(
  task: Task,
  prompts: readonly TokenRecord[],
  completions: readonly Played[],
  decode: (ids: readonly number[]) => string,
  config: TrainConfig,
): Rollouts {
  const answers = answersOf(prompts, completions, decode, config.num_generations);
  const scored = task.score(inGroupsOf(answers, config.num_generations), config.reward_failure === 'stop');
  const rewards = task.rewardNames.map((name) => scored.map(({ components }) => components[name] ?? Number.NaN));
  const failures = scored.map(({ failure }) => failure);
  return {
    prompts,
    completions,
    failures,
    texts: answers.map(({ completion }) => completion),
    rewards: withFailures(rewards, failures, answers, config),
  };
}

/** Completions with the scores that they were given before. */
export function withScores(
  scores: Scores,
  prompts: readonly TokenRecord[],
  completions: readonly Played[],
  decode: (ids: readonly number[]) => string,
  groupSize: number,
): Rollouts {
  const answers = answersOf(prompts, completions, decode, groupSize);
  return { ...scores, prompts, completions, texts: answers.map(({ completion }) => completion) };
}

function answersOf(
  prompts: readonly TokenRecord[],
  completions: readonly Played[],
  decode: (ids: readonly number[]) => string,
  groupSize: number,
): Answer[] {
  return completions.map((one, row) => answerOf(promptOfRow(prompts, row, groupSize), one, decode));
}

/** A sampled completion as a task scores it. */
export function answerOf(
  { record, asked }: Pick<TokenRecord, 'record' | 'asked'>,
  played: Played = { ids: [], terminated: false },
  decode: (ids: readonly number[]) => string,
): Answer {
  const { ids, terminated, episode } = played;
  const finish = terminated ? 'stop' : 'length';
  const facts = { record, ...(asked && { asked }), tokens: ownTokens(played).length, finish } as const;
  if (episode === undefined) return { ...facts, completion: decode(ids) };
  const { messages, rewards, failure } = episode;
  return { ...facts, completion: ownText(messages), messages, outcome: { components: rewards, failure } };
}

/** The rollouts of a generation with their advantages. */
export function withAdvantages(task: Task, number: number, rollouts: Rollouts, config: TrainConfig): Generation {
  const weighted = withTaskWeights(config, task);
  const result = computeAdvantages(rollouts.rewards, weighted);
  checkRewards(task.rewardNames, rollouts, result, weighted.reward_weights);
  const rounding = roundingMetrics(rollouts.rewards, result, weighted.reward_weights);
  if (config.method !== 'polychromic-grpo') return { ...rollouts, number, result, metrics: rounding };
  const sets = setAdvantages(result.rewards, rollouts.texts, number, config);
  return {
    ...rollouts,
    number,
    result: { ...result, advantages: sets.advantages },
    metrics: { ...rounding, 'polychromic/set_score': sets.meanScore, 'polychromic/diversity': sets.meanDiversity },
  };
}
