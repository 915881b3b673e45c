/**
 * Job: a pre-flight check of a run. Samples the first generations for their rewards, completes some held-out prompts,
 * measures how long steps take, and runs a training pass on the longest prompt with the longest completion. Nothing is
 * stored.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { ChatFinding } from '../../model/chat-check.ts';
import { modelParameters } from '../../model/model.ts';
import { parameterCount } from '../../model/parameter.ts';
import type { Sample } from '../../samples/sample.ts';
import { scoresAlone } from '../../tasks/index.ts';
import type { Quoting } from '../../text/quoted-tokens.ts';
import type { Unwritable } from '../../text/unwritable.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { planBatches } from '../batching/batching.ts';
import { disposeBatch, uploadGroups } from '../batching/packed-batch.ts';
import { drawPrompts, startOfPrompts } from '../batching/prompt-stream.ts';
import { difficultiesOf, longestTarget, recordsQuoting, targetsBeyond } from '../batching/prompts.ts';
import { isReinforcement, trainedGroupSize } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { estimateRun } from '../local/estimate.ts';
import { openLocalEngine } from '../local/local-engine.ts';
import { openSession, type Session } from '../local/session.ts';
import { planRows, tokenCost, undividedMb } from '../memory/activations.ts';
import { type GpuUse, gpuUse } from '../memory/device.ts';
import { withinMemory } from '../memory/within-memory.ts';
import { groupOutcomes } from '../monitor/metrics.ts';
import { highestReward } from '../monitor/watch-settings.ts';
import { completionLogps, lossAndGradients } from '../policy/policy.ts';
import type { RemoteEngine } from '../protocol/remote.ts';
import type { RunEstimate, TrainerStart } from '../protocol/start.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import { evaluate } from '../rollout/held-out.ts';
import { samplesOf } from '../rollout/report.ts';
import { sampleCompletions } from '../rollout/sample.ts';
import { scoreCompletions, withAdvantages } from '../rollout/score.ts';
import { tryLengths } from '../rollout/try-lengths.ts';
import type { SettledLengths, Stage } from '../stage/stage.ts';
import { outOfReach, unwritableOf } from '../stage/writable.ts';
import { openRemote } from '../tinker/open-remote.ts';
import type { JobIo } from './job-io.ts';
import { trySteps } from './remote-preflight.ts';

export interface PreflightJob extends Omit<TrainerStart, 'kind' | 'estimate'>, Omit<BackendChoice, 'modelFolder'> {
  readonly kind: 'preflight';
}

export interface PreflightResult {
  /** Every completion of the generations that were sampled; empty for a method that has no rewards. */
  readonly samples: readonly Sample[];
  /** The names of the task's tools. */
  readonly tools: readonly string[];
  /** The maximum reward; null if there is none. */
  readonly highestReward: number | null;
  /** Training records, if all of them have a target; 0 otherwise. */
  readonly targets: number;
  readonly heldOut: { readonly mean: number; readonly n: number; readonly seconds: number } | null;
  readonly estimate: RunEstimate;
  /** null: the model is elsewhere. */
  readonly longest: LongestPass | null;
  /** What a step on a remote engine takes there; null: it is computed here. */
  readonly remote: { readonly engine: string; readonly metrics: Metrics } | null;
  /** Records whose texts quote control tokens of the model, and which ones they quote. */
  readonly quoting: Quoting;
  /** What the tokenizer can't give back of the records' texts. */
  readonly unwritable: Unwritable;
  /** Why the run is refused for that, unless the user agrees; null: it isn't. */
  readonly outOfReach: string | null;
  /** Chat settings that the model's chat template doesn't use. */
  readonly unusedChat: readonly Pick<ChatFinding, 'message' | 'remedy'>[];
  readonly maxCompletionLength: number;
  /** In tokens, with its end token. */
  readonly longestTarget: number;
  /** Targets, held-out ones too, that don't fit into maxCompletionLength. */
  readonly longerTargets: number;
  readonly parameters: number;
  readonly trainable: number;
}

/** A training pass on the longest prompt, with completions as long as they may get. */
export interface LongestPass {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Parts that a micro-batch is split into. */
  readonly parts: number;
  /** Peak memory of the process afterwards. */
  readonly peakBytes: number;
  /** The same of a GPU; null: the processor computes. */
  readonly gpu: GpuUse | null;
}

/** Held-out prompts to complete: enough for a rough score. */
const HELD_OUT = 16;
/** At most so many generations are sampled for a group whose rewards differ. */
const GENERATIONS = 3;
/** Groups that are sampled at least: what a single one shows may be its prompt's doing. */
const GROUPS = 4;
const PARTS = 4;

/** Tries everything that the run would do. */
export function runPreflightJob(job: PreflightJob, io: JobIo): Promise<PreflightResult> {
  const { engine = null } = job;
  return engine === null ? checkHere(job, io) : checkThere(job, engine, io);
}

async function checkHere(job: PreflightJob, io: JobIo): Promise<PreflightResult> {
  const opened = openSession(startOf(job));
  try {
    await io.progress(0, PARTS, 'checks');
    const session = { ...opened, ...(await settledLimit(opened)) };
    const engine = openLocalEngine(session);
    const samples = isReinforcement(session.config.method) ? await sampleGroups(session, engine) : [];
    await io.progress(1, PARTS, 'checks');
    const heldOut = await answerHeldOut(session, engine);
    await io.progress(2, PARTS, 'checks');
    const tokens = samples.reduce((sum, { length }) => sum + length, 0);
    const estimate = estimateRun(session, 0, {
      ...(tokens > 0 && { completionTokens: tokens / samples.length }),
      secondsPerEvaluation: secondsPerEvaluation(session, heldOut),
    });
    await io.progress(3, PARTS, 'checks');
    const longest = { ...passLongest(session), gpu: await gpuUse() };
    await io.progress(PARTS, PARTS, 'checks');
    return {
      samples,
      tools: session.task.toolNames ?? [],
      highestReward: highestReward(session.task, session.config.reward_weights),
      targets: targetsOf(session),
      heldOut,
      estimate,
      longest,
      remote: null,
      quoting: recordsQuoting(session),
      ...writing(job, session),
      unusedChat: session.tokenizer.checkChat(),
      ...limitOf(session),
      parameters: parameterCount(modelParameters(session.policy.model)),
      trainable: parameterCount(session.parameters),
    };
  } finally {
    opened.dispose();
  }
}

/** As the run itself settles it. */
async function settledLimit(session: Session): Promise<SettledLengths> {
  const { trialLength } = session;
  if (trialLength === undefined) return {};
  return tryLengths({ ...session, engine: openLocalEngine(session) }, { ...session, trialLength });
}

/** The run as it would start; what its tokenizer can't write becomes a finding. */
function startOf(job: PreflightJob): TrainerStart {
  return { ...job, kind: 'start', estimate: null, config: { ...job.config, allow_unwritable_words: true } };
}

function targetsOf({ records, task }: Stage): number {
  return records.every(({ record }) => task.target(record) !== '') ? records.length : 0;
}

function limitOf({ maxCompletionLength, records, evalRecords }: Stage) {
  const all = [...records, ...evalRecords];
  const longerTargets = targetsBeyond(all, maxCompletionLength);
  return { maxCompletionLength, longestTarget: longestTarget(all), longerTargets };
}

function writing({ task: source, config }: PreflightJob, stage: Stage) {
  return {
    unwritable: unwritableOf(stage, stage.task),
    outOfReach: outOfReach(stage, stage.task, config, scoresAlone(source)),
  };
}

async function checkThere(job: PreflightJob, remote: RemoteEngine, io: JobIo): Promise<PreflightResult> {
  const opened = await openRemote(startOf(job), remote);
  const { stage, engine, close } = opened;
  try {
    await io.progress(1, PARTS, 'checks');
    const heldOut = await answerHeldOut(stage, engine);
    await io.progress(2, PARTS, 'checks');
    const { samples, metrics, ...paces } = await trySteps(opened, secondsPerEvaluation(stage, heldOut));
    await io.progress(PARTS, PARTS, 'checks');
    const { parameters, trainable } = engine.describe();
    return {
      samples,
      heldOut,
      longest: null,
      remote: { engine: remote.name, metrics },
      tools: stage.task.toolNames ?? [],
      highestReward: highestReward(stage.task, stage.config.reward_weights),
      targets: targetsOf(stage),
      estimate: { ...paces, memoryBytes: process.memoryUsage.rss() },
      quoting: recordsQuoting(stage),
      ...writing(job, stage),
      unusedChat: stage.tokenizer.checkChat(),
      ...limitOf(stage),
      parameters: parameters ?? 0,
      trainable: trainable ?? 0,
    };
  } finally {
    await close();
  }
}

/**
 * The first generations, as the run itself would sample them from its first weights: a few groups, and more until one
 * has rewards that differ, or all are solved. Few groups may all be dead although the run would learn.
 */
async function sampleGroups(
  { config, records, task, tokenizer, maxCompletionLength, decode }: Stage,
  engine: Engine,
): Promise<Sample[]> {
  const plan = planBatches(config, records.length, difficultiesOf(task, records));
  const sampler = { engine, task, tokenizer };
  const highest = highestReward(task, config.reward_weights);
  const samples: Sample[] = [];
  let teaches = false;
  for (let number = 0; number < Math.max(GENERATIONS, Math.ceil(GROUPS / plan.groupsPerGeneration)); number++) {
    const prompts = drawPrompts(plan, startOfPrompts, number).records.flatMap((index) => records[index] ?? []);
    const completions = await sampleCompletions(sampler, prompts, number, maxCompletionLength, config);
    const rollouts = scoreCompletions(task, prompts, completions, decode, config);
    const generation = withAdvantages(task, number, rollouts, config);
    const before = number * prompts.length;
    for (const sample of samplesOf(task, generation, config.num_generations))
      samples.push({ ...sample, group: before + sample.group });
    const outcomes = groupOutcomes(generation.prompts, generation.result, highest);
    teaches ||= outcomes.some(({ outcome }) => outcome === 'teaches');
    const isEnough = before + prompts.length >= GROUPS;
    if (isEnough && (teaches || outcomes.every(({ outcome }) => outcome === 'solved'))) break;
  }
  return samples;
}

/** What an evaluation of all its records takes; null: the run makes none. */
function secondsPerEvaluation({ config, evalRecords }: Stage, heldOut: PreflightResult['heldOut']): number | null {
  if (config.eval_steps === 0 || heldOut === null) return null;
  return (heldOut.seconds * Math.min(evalRecords.length, config.eval_records)) / heldOut.n;
}

async function answerHeldOut({ config, evalRecords, task, tokenizer, maxCompletionLength }: Stage, engine: Engine) {
  const some = evalRecords.slice(0, Math.min(HELD_OUT, config.eval_records));
  if (some.length === 0) return null;
  const began = performance.now();
  const options = { maxNewTokens: maxCompletionLength, batchSize: config.per_device_train_batch_size };
  const { metrics } = await evaluate({ engine, task, tokenizer }, some, options);
  const seconds = (performance.now() - began) / 1000;
  return { mean: metrics[`eval_${task.mainMetric}`] ?? Number.NaN, n: some.length, seconds };
}

/** One part of a micro-batch in which every row has the maximum length; smaller ones where memory runs out. */
function passLongest(session: Session): Omit<LongestPass, 'gpu'> {
  const { policy, config } = session;
  const longest = longestRows(session);
  return withinMemory(
    policy.model,
    config.activation_memory_mb,
    (activation_memory_mb) => passWithin({ ...session, config: { ...config, activation_memory_mb } }, longest),
    () => undividedMb(longest.rows, tokenCost(policy.model.config)),
  );
}

/** The longest record, a completion of the maximum length, and the rows of a micro-batch of them. */
function longestRows({ config, records, maxCompletionLength }: Session) {
  const record = records.reduce((longest, next) => (next.promptIds.length > longest.promptIds.length ? next : longest));
  const completion = Array.from(
    { length: maxCompletionLength },
    (_, i) => record.targetIds[i % record.targetIds.length] ?? 0,
  );
  const groupSize = isReinforcement(config.method) ? trainedGroupSize(config) : 1;
  const rows = Array.from({ length: config.per_device_train_batch_size }, (_, row) => ({
    group: Math.floor(row / groupSize),
    prompt: record.promptIds.length,
    completion: completion.length - 1,
  }));
  return { record, completion, groupSize, rows };
}

function passWithin(
  { config, policy, parameters }: Session,
  { record, completion, groupSize, rows }: ReturnType<typeof longestRows>,
): Omit<LongestPass, 'gpu'> {
  const { parts, checkpointing } = planRows(rows, tokenCost(policy.model.config), config);
  const size = parts[0]?.end ?? 1;
  const groups = Array.from({ length: Math.ceil(size / groupSize) }, (_, g) => ({
    promptIds: record.promptIds,
    completions: Array.from({ length: Math.min(groupSize, size - g * groupSize) }, () => completion),
  }));
  const batch = uploadGroups(groups);
  try {
    tf.tidy(() => {
      const loss = () => tf.sum(completionLogps(policy, batch, config.temperature, { checkpointing }).logps);
      // Reading one number waits for all pending work.
      lossAndGradients(loss as () => tf.Scalar, parameters).grads[0]?.dataSync();
    });
  } finally {
    disposeBatch(batch);
  }
  return {
    promptTokens: record.promptIds.length,
    completionTokens: completion.length,
    parts: parts.length,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
}
