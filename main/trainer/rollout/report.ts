/** The last third of a rollout: what a scored generation reports, as metrics and as samples to browse. */

import { askedOf, plainLines } from '../../samples/chat-message.ts';
import { type Played, sampledFacts, writtenOf } from '../../samples/completion.ts';
import type { Sample } from '../../samples/sample.ts';
import { inGroupsOf } from '../../tasks/groups.ts';
import type { Answer, Task } from '../../tasks/task.ts';
import { isFailedCall } from '../../tasks/tool-use.ts';
import { ngramSets, setDiversity } from '../../text/diversity.ts';
import { nanStats } from '../advantages/advantages.ts';
import type { Generation, Rollouts } from '../batching/generation.ts';
import { ownTokens, promptOfRow } from '../batching/rows.ts';
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
import type { GroupOutcome, Metrics } from '../protocol/trainer-events.ts';
import { failureMetrics } from './failed-rewards.ts';
import { answerOf } from './score.ts';

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
    ...toolMetrics(task, generation.completions),
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
  const answers = texts.map((_, row) => answerOfRow(generation, row, size));
  const checked = check.measure(inGroupsOf(answers, size));
  const groups = prompts.map((_, g) => setDiversity(texts.slice(g * size, (g + 1) * size).map(ngramSets)));
  return {
    [`check/${check.name}`]: nanStats(checked).mean,
    'completions/diversity': groups.reduce((total, diversity) => total + diversity, 0) / groups.length,
  };
}

/** A completion of a generation as a task scores it. */
function answerOfRow({ prompts, completions, texts }: Rollouts, row: number, groupSize: number): Answer {
  return answerOf(promptOfRow(prompts, row, groupSize), completions[row], () => texts[row] ?? '');
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

/** TRL's `tools/…`: calls in a completion, on average, and the share of them that failed; absent without tools. */
function toolMetrics({ environment }: Pick<Task, 'environment'>, completions: readonly Played[]): Metrics {
  if (environment?.hasTools !== true) return {};
  const results = completions.flatMap(({ episode }) => (episode?.messages ?? []).filter(({ role }) => role === 'tool'));
  const failed = results.filter(isFailedCall).length;
  return {
    'tools/call_frequency': results.length / completions.length,
    'tools/failure_frequency': results.length === 0 ? 0 : failed / results.length,
  };
}

/** Every completion in the form stored for browsing; `groupSize` of each prompt. A run's system prompt is in place. */
export function samplesOf(task: Task, generation: Generation, groupSize: number): Sample[] {
  return generation.completions.map((completion, row) => {
    const answer = answerOfRow(generation, row, groupSize);
    const { record, tokens } = answer;
    return {
      recordId: record.id,
      group: Math.floor(row / groupSize),
      index: row % groupSize,
      ...promptOf(answer),
      target: task.target(record),
      ...writtenOf(answer),
      ...sampledFacts(completion),
      reward: generation.result.rewards[row] ?? Number.NaN,
      advantage: generation.result.advantages[row] ?? 0,
      components: Object.fromEntries(
        task.rewardNames.map((name, k) => [name, generation.rewards[k]?.[row] ?? Number.NaN]),
      ),
      length: tokens,
      failure: generation.failures[row] ?? null,
    };
  });
}

function promptOf({ record: { prompt, messages }, asked }: Answer) {
  if (messages === undefined) return { prompt };
  const promptMessages = asked ?? askedOf(messages);
  return { prompt: plainLines(promptMessages), promptMessages };
}
