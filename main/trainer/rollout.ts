/**
 * One generation: prompts sampled, scored and turned into advantages.
 * P prompts, G completions a prompt, R = P*G rows; row i belongs to group floor(i / G).
 */

import { type Completion, generate } from '../model/generate.ts';
import type { PromptGroup } from '../model/pack.ts';
import { hashString } from '../random.ts';
import type { Task } from '../tasks/task.ts';
import { ngramSets, setDiversity } from '../text/diversity.ts';
import { computeAdvantages } from './advantages.ts';
import type { TrainConfig } from './config.ts';
import type { Metrics, Sample } from './events.ts';
import type { Generation } from './generation.ts';
import { atMost, cacheBytes } from './memory-plan.ts';
import { completionMetrics, diversityMetrics, generationTokens, groupMetrics, rewardMetrics } from './metrics.ts';
import type { Policy } from './policy.ts';
import { setAdvantages } from './polychromic.ts';
import type { TokenRecord } from './prompts.ts';
import { highestReward } from './watch-settings.ts';

const ROLLOUT_STREAM = hashString('rollout');

export interface SampleOptions {
  readonly eosTokenIds?: readonly number[];
  /** Called after each decoding step. */
  readonly onToken?: () => void;
}

/** Samples G completions of every prompt, each to one of the end tokens or to `maxNewTokens`. */
export function sampleCompletions(
  policy: Policy,
  prompts: readonly TokenRecord[],
  number: number,
  maxNewTokens: number,
  config: TrainConfig,
  { eosTokenIds = policy.model.config.eosTokenIds, onToken }: SampleOptions = {},
): Completion[] {
  return generate(
    policy.model,
    policy.adapter,
    prompts.map(({ promptIds }) => promptIds),
    {
      numGenerations: config.num_generations,
      maxNewTokens,
      maxRows: rowsAtOnce(policy, prompts, maxNewTokens, config),
      eosTokenIds,
      temperature: config.temperature,
      topK: config.top_k,
      topP: config.top_p,
      minP: config.min_p,
      repetitionPenalty: config.repetition_penalty,
      coordinates: [config.seed, ROLLOUT_STREAM, number],
      ...(onToken && { onToken }),
    },
  );
}

/** Completions whose keys, values and logits fit into the memory for activations, which nothing else uses meanwhile. */
function rowsAtOnce(
  { model }: Policy,
  prompts: readonly TokenRecord[],
  completionTokens: number,
  { num_generations: group, activation_memory_mb }: TrainConfig,
): number {
  const promptTokens = prompts.reduce((most, { promptIds }) => Math.max(most, promptIds.length), 0);
  const shape = { promptTokens, completionTokens, group };
  return atMost(
    prompts.length * group,
    (rows) => cacheBytes(model.config, shape, rows) <= activation_memory_mb * 2 ** 20,
  );
}

/** Scores sampled completions and computes their advantages. */
export function scoreCompletions(
  task: Task,
  number: number,
  prompts: readonly TokenRecord[],
  completions: readonly Completion[],
  decode: (ids: readonly number[]) => string,
  config: TrainConfig,
): Generation {
  const texts = completions.map(({ ids }) => decode(ids));
  const scored = texts.map((text, row) => task.reward(promptOfRow(prompts, row, config).record, text));
  const rewards = task.rewardNames.map((name) => scored.map((components) => components[name] ?? Number.NaN));
  const result = computeAdvantages(rewards, weighted(task, config));
  if (config.method !== 'polychromic-grpo')
    return { number, prompts, completions, texts, rewards, result, metrics: {} };
  const sets = setAdvantages(result.rewards, texts, number, config);
  return {
    ...{ number, prompts, completions, texts, rewards },
    result: { ...result, advantages: sets.advantages },
    metrics: { 'polychromic/set_score': sets.meanScore, 'polychromic/diversity': sets.meanDiversity },
  };
}

/** The configuration with the weights in force: its own, else the task's. */
function weighted(task: Task, config: TrainConfig): TrainConfig {
  const { rewardWeights } = task;
  return { ...config, reward_weights: config.reward_weights ?? (rewardWeights === null ? null : [...rewardWeights]) };
}

function promptOfRow(
  prompts: readonly TokenRecord[],
  row: number,
  config: Pick<TrainConfig, 'num_generations'>,
): TokenRecord {
  const prompt = prompts[Math.floor(row / config.num_generations)];
  if (prompt === undefined) throw new Error(`Expected row ${row} to belong to one of ${prompts.length} prompts`);
  return prompt;
}

/** The rows [first, end) as groups that share their prompt. */
export function groupsOfRows(
  generation: Pick<Generation, 'prompts' | 'completions'>,
  first: number,
  end: number,
  groupSize: number,
): PromptGroup[] {
  const groups = new Map<number, { promptIds: readonly number[]; completions: (readonly number[])[] }>();
  for (let row = first; row < end; row++) {
    const g = Math.floor(row / groupSize);
    const group = groups.get(g) ?? { promptIds: generation.prompts[g]?.promptIds ?? [], completions: [] };
    group.completions.push(generation.completions[row]?.ids ?? []);
    groups.set(g, group);
  }
  return [...groups.values()];
}

/** What TRL logs of a generation, and how alike its completions are. */
export function generationMetrics(
  task: Task,
  generation: Generation,
  config: Pick<TrainConfig, 'num_generations' | 'reward_weights'>,
): Metrics {
  const groupSize = config.num_generations;
  const lengths = generation.completions.map(({ ids }) => ids.length);
  return {
    ...rewardMetrics(task.rewardNames, generation.rewards, generation.result),
    ...groupMetrics(generation.result, highestReward(task, config.reward_weights)),
    ...completionMetrics(
      lengths,
      generation.completions.map(({ terminated }) => terminated),
    ),
    ...diversityMetrics(
      generation.completions.map(({ ids }) => ids),
      groupSize,
    ),
    ...checkMetrics(task, generation, config),
    ...generation.metrics,
  };
}

/** `check/<name>`: the mean of the measure that no reward looks at; where there is one, many answers are right, and their diversity counts too. */
function checkMetrics(
  { check }: Task,
  { texts, prompts }: Generation,
  config: Pick<TrainConfig, 'num_generations'>,
): Metrics {
  if (check === null) return {};
  const sum = texts.reduce(
    (total, text, row) => total + check.measure(promptOfRow(prompts, row, config).record, text),
    0,
  );
  const size = config.num_generations;
  const groups = prompts.map((_, g) => setDiversity(texts.slice(g * size, (g + 1) * size).map(ngramSets)));
  return {
    [`check/${check.name}`]: sum / texts.length,
    'completions/diversity': groups.reduce((total, diversity) => total + diversity, 0) / groups.length,
  };
}

/** Prompt and completion tokens of a generation, each prompt counted once a completion. */
export function tokensOf(generation: Generation, groupSize: number): number {
  return generationTokens(
    generation.completions.map((_, row) => generation.prompts[Math.floor(row / groupSize)]?.promptIds.length ?? 0),
    generation.completions.map(({ ids }) => ids.length),
  );
}

/** Every completion as it is kept for the person to browse. */
export function samplesOf(task: Task, generation: Generation, config: TrainConfig): Sample[] {
  return generation.texts.map((completion, row) => {
    const { record } = promptOfRow(generation.prompts, row, config);
    return {
      recordId: record.id,
      group: Math.floor(row / config.num_generations),
      index: row % config.num_generations,
      prompt: record.prompt,
      target: task.reference(record),
      completion,
      reward: generation.result.rewards[row] ?? Number.NaN,
      advantage: generation.result.advantages[row] ?? 0,
      components: Object.fromEntries(
        task.rewardNames.map((name, k) => [name, generation.rewards[k]?.[row] ?? Number.NaN]),
      ),
      length: generation.completions[row]?.ids.length ?? 0,
      terminated: generation.completions[row]?.terminated ?? false,
    };
  });
}
