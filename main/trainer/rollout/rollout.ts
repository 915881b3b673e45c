/**
 * One generation: completions sampled, scored and turned into advantages.
 * P prompts, G completions per prompt, R = P*G rows; row i belongs to group floor(i / G).
 */

import type { PromptGroup } from '../../model/pack.ts';
import { hashString } from '../../random.ts';
import { ownText } from '../../tasks/folder/environment.ts';
import type { Answer, Task, TaskRecord } from '../../tasks/task.ts';
import { ngramSets, setDiversity } from '../../text/diversity.ts';
import { computeAdvantages, roundingMetrics } from '../advantages/advantages.ts';
import { setAdvantages } from '../advantages/polychromic.ts';
import type { Generation, Played, Rollouts, Scores } from '../batching/generation.ts';
import { checkRewards } from '../batching/not-finite.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import { withTaskWeights } from '../config/combinations.ts';
import type { TrainConfig } from '../config/config.ts';
import {
  completionMetrics,
  diversityMetrics,
  generationTokens,
  groupMetrics,
  groupOutcomes,
  rewardMetrics,
} from '../monitor/metrics.ts';
import { highestReward } from '../monitor/watch-settings.ts';
import type { GroupOutcome, Metrics, Sample } from '../protocol/trainer-events.ts';
import { type EpisodeContext, ownTokens, sampleEpisodes } from './episodes.ts';
import { failureMetrics, withFailures } from './failed-rewards.ts';

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

/** Scores sampled completions; those whose reward failed as the configuration says (failed-rewards.ts). */
export function scoreCompletions(
  task: Task,
  prompts: readonly TokenRecord[],
  completions: readonly Played[],
  decode: (ids: readonly number[]) => string,
  config: TrainConfig,
): Rollouts {
  const answers = answersOf(prompts, completions, decode, config.num_generations);
  const scored = task.score(answers, config.reward_failure === 'stop');
  const rewards = task.rewardNames.map((name) => scored.map(({ components }) => components[name] ?? Number.NaN));
  const failures = scored.map(({ failure }) => failure);
  return {
    ...{ prompts, completions, failures, texts: answers.map(({ completion }) => completion) },
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
  return completions.map((one, row) => answerOf(promptOfRow(prompts, row, groupSize).record, one, decode));
}

/** A sampled completion as a task scores it. */
export function answerOf(
  record: TaskRecord,
  played: Played = { ids: [], terminated: false },
  decode: (ids: readonly number[]) => string,
): Answer {
  const { ids, terminated, episode } = played;
  const facts = { record, tokens: ownTokens(played).length, finish: terminated ? 'stop' : 'length' } as const;
  if (episode === undefined) return { ...facts, completion: decode(ids) };
  const { messages, rewards, failure } = episode;
  return { ...facts, completion: ownText(messages), messages, outcome: { components: rewards, failure } };
}

/** A completion of a generation as a task scores it. */
function answerOfRow({ prompts, completions, texts }: Rollouts, row: number, groupSize: number): Answer {
  return answerOf(promptOfRow(prompts, row, groupSize).record, completions[row], () => texts[row] ?? '');
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

function promptOfRow(prompts: readonly TokenRecord[], row: number, groupSize: number): TokenRecord {
  const prompt = prompts[Math.floor(row / groupSize)];
  if (prompt === undefined) throw new Error(`Expected row ${row} to belong to one of ${prompts.length} prompts`);
  return prompt;
}

/** Rows of a generation, in its order, as groups that share their prompt. */
export function groupsOfRows(
  generation: Pick<Generation, 'prompts' | 'completions'>,
  rows: readonly number[],
  groupSize: number,
): PromptGroup[] {
  const groups = new Map<number, { promptIds: readonly number[]; completions: (readonly number[])[] }>();
  for (const row of rows) {
    const g = Math.floor(row / groupSize);
    const group = groups.get(g) ?? { promptIds: generation.prompts[g]?.promptIds ?? [], completions: [] };
    group.completions.push(generation.completions[row]?.ids ?? []);
    groups.set(g, group);
  }
  return [...groups.values()];
}

/** TRL's metrics of a generation, and the similarity of its completions. */
export function generationMetrics(
  task: Task,
  generation: Generation,
  config: Pick<TrainConfig, 'num_generations' | 'reward_weights'>,
): Metrics {
  const groupSize = config.num_generations;
  const own = generation.completions.map(ownTokens);
  return {
    ...rewardMetrics(task.rewardNames, generation.rewards, generation.result),
    ...groupMetrics(outcomesOf(task, generation, config), generation.result),
    ...completionMetrics(
      own.map(({ length }) => length),
      generation.completions.map(({ terminated }) => terminated),
    ),
    ...diversityMetrics(own, groupSize),
    ...turnMetrics(generation.completions),
    ...checkMetrics(task, generation, config),
    ...failureMetrics(generation.failures),
    ...generation.metrics,
  };
}

/** What each group of a generation had to teach. */
export function outcomesOf(
  task: Task,
  { prompts, result }: Pick<Generation, 'prompts' | 'result'>,
  config: Pick<TrainConfig, 'reward_weights'>,
): GroupOutcome[] {
  return groupOutcomes(prompts, result, highestReward(task, config.reward_weights));
}

/** `check/<name>`: the mean of the metric that no reward uses. A task that has one has many right answers, so it also logs their diversity. */
function checkMetrics(
  { check }: Task,
  generation: Generation,
  { num_generations: size }: Pick<TrainConfig, 'num_generations'>,
): Metrics {
  if (check === null) return {};
  const { texts, prompts } = generation;
  const checked = check.measure(texts.map((_, row) => answerOfRow(generation, row, size)));
  const sum = checked.reduce((total, value) => total + value, 0);
  const groups = prompts.map((_, g) => setDiversity(texts.slice(g * size, (g + 1) * size).map(ngramSets)));
  return {
    [`check/${check.name}`]: sum / texts.length,
    'completions/diversity': groups.reduce((total, diversity) => total + diversity, 0) / groups.length,
  };
}

/** Prompt and completion tokens of rollouts, each prompt counted once per completion. */
export function tokensOf({ prompts, completions }: Rollouts, groupSize: number): number {
  return generationTokens(
    completions.map((_, row) => prompts[Math.floor(row / groupSize)]?.promptIds.length ?? 0),
    completions.map((completion) => ownTokens(completion).length),
  );
}

/** `environment/turns`: the model's turns in a completion, on average; absent without an environment. */
function turnMetrics(completions: readonly Played[]): Metrics {
  const turns = completions.flatMap(({ episode }) =>
    episode === undefined ? [] : [episode.messages.filter(({ role }) => role === 'assistant').length],
  );
  return turns.length === 0 ? {} : { 'environment/turns': turns.reduce((sum, n) => sum + n, 0) / turns.length };
}

/** Every completion in the form stored for browsing; `groupSize` of each prompt. */
export function samplesOf(task: Task, generation: Generation, groupSize: number): Sample[] {
  return generation.texts.map((completion, row) => {
    const { record } = promptOfRow(generation.prompts, row, groupSize);
    return {
      recordId: record.id,
      group: Math.floor(row / groupSize),
      index: row % groupSize,
      prompt: record.prompt,
      target: task.reference(record),
      completion,
      reward: generation.result.rewards[row] ?? Number.NaN,
      advantage: generation.result.advantages[row] ?? 0,
      components: Object.fromEntries(
        task.rewardNames.map((name, k) => [name, generation.rewards[k]?.[row] ?? Number.NaN]),
      ),
      length: ownTokens(generation.completions[row] ?? { ids: [], terminated: false }).length,
      terminated: generation.completions[row]?.terminated ?? false,
      failure: generation.failures[row] ?? null,
      ...messagesOf(generation.completions[row]),
    };
  });
}

/** A conversation to be kept with its completion. */
export function messagesOf({ episode }: Pick<Played, 'episode'> = {}): Pick<Sample, 'messages'> {
  return episode === undefined ? {} : { messages: episode.messages };
}
