/**
 * One generation of a run, from its prompts to what the loss needs: completions are sampled and scored, groups without
 * spread are sampled again where dynamic sampling is on, and log-probabilities are kept that later passes compare with.
 */

import { deadGroups } from '../advantages/advantages.ts';
import { type BatchPlan, generationRecords } from '../batching/batching.ts';
import { downSamplingMetrics, keepRows, trainedRows } from '../batching/down-sampling.ts';
import { dynamicSamplingMetrics, replaceGroups, replaceRows } from '../batching/dynamic-sampling.ts';
import type { Generation, Rollouts, SavedGeneration, ScoredGeneration } from '../batching/generation.ts';
import { drawingMetrics, drawMore, drawPrompts, type PromptState, withOutcomes } from '../batching/prompt-stream.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { RunConfig } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { generationMetrics, outcomesOf, tokensOf } from '../rollout/report.ts';
import { sampleCompletions } from '../rollout/sample.ts';
import { scoreCompletions, withAdvantages, withScores } from '../rollout/score.ts';
import type { Stage } from '../stage/stage.ts';
import type { RunIo } from './run-io.ts';

/** What sampling reports. */
export type SamplingIo = Pick<RunIo, 'phases' | 'emit' | 'addTokens' | 'addGroups'>;

/** Samples, scores and, if the policy will change before all rows are used, keeps their log-probabilities. */
export async function generateAndScore(
  stage: Stage,
  engine: Engine,
  plan: BatchPlan,
  number: number,
  before: PromptState,
  io: SamplingIo,
) {
  const { sampled, records, prompts } = await sampleGroups(stage, engine, plan, number, before, io);
  const trained = io.phases.time('reward', () => downSample(stage, plan, sampled));
  const generation = await io.phases.time(
    'loss',
    async (): Promise<ScoredGeneration> => ({
      ...trained,
      records,
      oldLogps: plan.needsOldLogps ? await engine.logps(trained, plan, 'policy') : null,
      refLogps: await referenceLogps(engine, plan, trained),
    }),
  );
  return { generation, prompts };
}

/** With PODS, the part of each group that is trained on, with the advantages that it has by itself. */
function downSample({ task, config }: Stage, plan: BatchPlan, sampled: Generation): Generation {
  const metrics = generationMetrics(task, sampled, config);
  if (config.pods_update_size === null) return { ...sampled, metrics };
  const rows = trainedRows(sampled.result.rewards, config.num_generations, plan.groupSize);
  const trained = withAdvantages(task, sampled.number, keepRows(sampled, rows), trainedConfig(config, plan));
  const down = downSamplingMetrics(sampled.result.groupStd, trained.result.groupStd);
  return { ...trained, metrics: { ...metrics, ...down } };
}

/** For functions of what is trained on: a group is what is left of it. */
function trainedConfig(config: RunConfig, plan: BatchPlan): RunConfig {
  return { ...config, num_generations: plan.groupSize };
}

/** The groups of a generation; with dynamic sampling, other prompts are sampled in place of those without spread. */
async function sampleGroups(
  stage: Stage,
  engine: Engine,
  plan: BatchPlan,
  number: number,
  before: PromptState,
  io: SamplingIo,
) {
  const { config, task } = stage;
  const compared = (rollouts: Rollouts): Generation =>
    io.phases.time('reward', () => withAdvantages(task, number, rollouts, config));
  const sampledOnce = async (drawn: readonly number[], round: number): Promise<Generation> => {
    const generation = compared(await sampleAndScore(stage, engine, drawn, { number, round }, io));
    io.addGroups(outcomesOf(task, generation, config));
    return generation;
  };
  const first = drawPrompts(plan, before, number);
  let { records, skipped } = first;
  let sampled = await sampledOnce(records, 0);
  let prompts = withOutcomes(plan, first.state, records, sampled.result);
  const rewards = [sampled.result.rewards];
  for (let round = 1; round <= config.dynamic_sampling; round++) {
    const dead = deadGroups(sampled.result);
    if (dead.length === 0) break;
    const more = drawMore(plan, prompts, number, dead.length);
    const others = await sampledOnce(more.records, round);
    prompts = withOutcomes(plan, more.state, more.records, others.result);
    rewards.push(others.result.rewards);
    sampled = compared(replaceGroups(sampled, dead, others, config.num_generations));
    records = replaceRows(records, dead, more.records, 1);
    skipped += more.skipped;
  }
  const metrics = {
    ...sampled.metrics,
    ...(config.dynamic_sampling > 0 && dynamicSamplingMetrics(rewards, sampled.result, config.num_generations)),
    ...drawingMetrics(plan, { before, after: prompts }, { records, skipped }),
  };
  return { sampled: { ...sampled, metrics }, records, prompts };
}

/** Samples and scores G completions of each record. */
async function sampleAndScore(
  stage: Stage,
  engine: Engine,
  records: readonly number[],
  { number, round }: { readonly number: number; readonly round: number },
  io: SamplingIo,
): Promise<Rollouts> {
  const { config, task, tokenizer, maxCompletionLength } = stage;
  const prompts = promptsOf(stage, records);
  const onToken = (): void => io.emit({ kind: 'alive' });
  const completions = await io.phases.time('rollout', () =>
    sampleCompletions({ engine, task, tokenizer }, prompts, number, maxCompletionLength, config, { onToken, round }),
  );
  const rollouts = io.phases.time('reward', () => scoreCompletions(task, prompts, completions, stage.decode, config));
  io.addTokens(tokensOf(rollouts, config.num_generations));
  return rollouts;
}

/** Once per generation: every pass over the rows needs the same numbers, even if the reference changes meanwhile. */
async function referenceLogps(
  engine: Engine,
  plan: BatchPlan,
  generation: Generation,
): Promise<readonly Float32Array[] | null> {
  return engine.describe().hasReference ? engine.logps(generation, plan, 'reference') : null;
}

/**
 * Restores a generation from a checkpoint. Its scores are those that it was given: with PODS, only some of each group's
 * completions are saved, and scoring again would be paid for again. The log-probabilities of a fixed reference are
 * recomputed.
 */
export async function restoreGeneration(
  stage: Stage,
  engine: Engine,
  plan: BatchPlan,
  saved: SavedGeneration,
): Promise<ScoredGeneration> {
  const { task, decode } = stage;
  const config = trainedConfig(stage.config, plan);
  const records = saved.records ?? generationRecords(plan, saved.number);
  const prompts = promptsOf(stage, records);
  const rollouts =
    saved.scores === null
      ? scoreCompletions(task, prompts, saved.completions, decode, config)
      : withScores(saved.scores, prompts, saved.completions, decode, config.num_generations);
  const generation = withAdvantages(task, saved.number, rollouts, config);
  const restored = (rows: SavedGeneration['oldLogps']): Float32Array[] | null =>
    rows?.map((row) => Float32Array.from(row)) ?? null;
  return {
    ...generation,
    records,
    oldLogps: restored(saved.oldLogps),
    refLogps: restored(saved.refLogps) ?? (await referenceLogps(engine, plan, generation)),
  };
}

function promptsOf(stage: Stage, records: readonly number[]): TokenRecord[] {
  return records.map((index) => {
    const record = stage.records[index];
    if (record === undefined) throw new Error(`Expected record ${index} of ${stage.records.length}`);
    return record;
  });
}
