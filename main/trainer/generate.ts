/**
 * One generation of a run, from its prompts to what the loss needs: completions are sampled and scored, groups without
 * spread are sampled again where dynamic sampling is on, and log-probabilities are kept that later passes compare with.
 */
import { type BatchPlan, generationRecords } from './batching/batching.ts';
import { downSamplingMetrics, keepRows, trainedRows } from './batching/down-sampling.ts';
import { dynamicSamplingMetrics, replaceGroups, replaceRows } from './batching/dynamic-sampling.ts';
import type { Generation, Rollouts, SavedGeneration, ScoredGeneration } from './batching/generation.ts';
import { drawingMetrics, drawMore, drawPrompts, type PromptState, withOutcomes } from './batching/prompt-stream.ts';
import type { TokenRecord } from './batching/prompts.ts';
import type { RunConfig } from './config.ts';
import type { RunIo } from './host/run-io.ts';
import { deadGroups } from './losses/advantages.ts';
import { rowLogps } from './losses/micro-batch-loss.ts';
import {
  generationMetrics,
  outcomesOf,
  sampleCompletions,
  scoreCompletions,
  tokensOf,
  withAdvantages,
} from './rollout.ts';
import type { Session } from './session.ts';

/** Samples, scores and, if the policy will change before all rows are used, keeps their log-probabilities. */
export function generateAndScore(session: Session, plan: BatchPlan, number: number, before: PromptState, io: RunIo) {
  const { policy, config } = session;
  const { sampled, records, prompts } = sampleGroups(session, plan, number, before, io);
  const trained = io.phases.time('reward', () => downSample(session, plan, sampled));
  const generation = io.phases.time(
    'loss',
    (): ScoredGeneration => ({
      ...trained,
      records,
      oldLogps: plan.needsOldLogps ? rowLogps(policy, plan, trained, config) : null,
      refLogps: referenceLogps(session, plan, trained),
    }),
  );
  return { generation, prompts };
}

/** With PODS, the part of each group that is trained on, with the advantages that it has by itself. */
function downSample({ task, config }: Session, plan: BatchPlan, sampled: Generation): Generation {
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
function sampleGroups(session: Session, plan: BatchPlan, number: number, before: PromptState, io: RunIo) {
  const { config, task } = session;
  const compared = (rollouts: Rollouts): Generation =>
    io.phases.time('reward', () => withAdvantages(task, number, rollouts, config));
  const sampledOnce = (drawn: readonly number[], round: number): Generation => {
    const generation = compared(sampleAndScore(session, drawn, { number, round }, io));
    io.addGroups(outcomesOf(task, generation, config));
    return generation;
  };
  const first = drawPrompts(plan, before, number);
  let { records, skipped } = first;
  let sampled = sampledOnce(records, 0);
  let prompts = withOutcomes(plan, first.state, records, sampled.result);
  const rewards = [sampled.result.rewards];
  for (let round = 1; round <= config.dynamic_sampling; round++) {
    const dead = deadGroups(sampled.result);
    if (dead.length === 0) break;
    const more = drawMore(plan, prompts, number, dead.length);
    const others = sampledOnce(more.records, round);
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
function sampleAndScore(
  session: Session,
  records: readonly number[],
  { number, round }: { readonly number: number; readonly round: number },
  io: RunIo,
): Rollouts {
  const { policy, config, task, maxCompletionLength } = session;
  const prompts = promptsOf(session, records);
  const onToken = (): void => io.emit({ kind: 'alive' });
  const completions = io.phases.time('rollout', () =>
    sampleCompletions(policy, prompts, number, maxCompletionLength, config, { onToken, round }),
  );
  const rollouts = io.phases.time('reward', () => scoreCompletions(task, prompts, completions, session.decode, config));
  io.addTokens(tokensOf(rollouts, config.num_generations));
  return rollouts;
}

/** Once per generation: every pass over the rows needs the same numbers, even if the reference changes meanwhile. */
function referenceLogps(
  { reference, config }: Session,
  plan: BatchPlan,
  generation: Generation,
): readonly Float32Array[] | null {
  return reference === null ? null : rowLogps(reference, plan, generation, config);
}

/** Restores a generation from a checkpoint; the log-probabilities of a fixed reference are recomputed. */
export function rescore(session: Session, plan: BatchPlan, saved: SavedGeneration): ScoredGeneration {
  const { task, decode } = session;
  const config = trainedConfig(session.config, plan);
  const records = saved.records ?? generationRecords(plan, saved.number);
  const rollouts = scoreCompletions(task, promptsOf(session, records), saved.completions, decode, config);
  const generation = withAdvantages(task, saved.number, rollouts, config);
  const restored = (rows: SavedGeneration['oldLogps']): Float32Array[] | null =>
    rows?.map((row) => Float32Array.from(row)) ?? null;
  return {
    ...generation,
    records,
    oldLogps: restored(saved.oldLogps),
    refLogps: restored(saved.refLogps) ?? referenceLogps(session, plan, generation),
  };
}

function promptsOf(session: Session, records: readonly number[]): TokenRecord[] {
  return records.map((index) => {
    const record = session.records[index];
    if (record === undefined) throw new Error(`Expected record ${index} of ${session.records.length}`);
    return record;
  });
}
