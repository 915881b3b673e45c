/**
 * Estimates a run's time and memory before its first step, from about ten seconds of its own work (timing.ts): passes
 * over a part of the first micro-batch with the targets as completions, and decoding steps at two depths of the cache.
 * Divided and bounded like the run itself; it changes nothing. A run that is resumed has measured its steps already.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PromptGroup } from '../../model/pack.ts';
import { parameterCount } from '../../model/parameter.ts';
import { meanOf } from '../../text/intervals.ts';
import {
  type BatchPlan,
  type GenerationConfig,
  generationRecords,
  planBatches,
  recordAt,
  stepsSharingGeneration,
} from '../batching/batching.ts';
import { longestPrompt, type TokenRecord } from '../batching/prompts.ts';
import { isReinforcement, type StepPaces, secondsFrom, warmUpConfig } from '../config/config.ts';
import { EVALUATION_TIME, type EvaluationPlan } from '../config/evaluations.ts';
import { keptLogits, planRows, type RowRange, type RowSize, tokenCost, undividedMb } from '../memory/activations.ts';
import { fullTrainingBytes, gradientsAtOnce, isOnGpu, scoreBytes } from '../memory/budget.ts';
import { currentDevice, peakUse } from '../memory/device.ts';
import { cacheBytes, rowsAtOnce } from '../memory/plan.ts';
import { withinMemory } from '../memory/within-memory.ts';
import type { RunEstimate } from '../protocol/start.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { Session } from './session.ts';
import { type PassTimes, type PassWork, timeDecoding, timePasses, workOf } from './timing.ts';

/** What is known better than from targets and a short trial. */
export interface Known {
  /** Mean tokens of completions that the policy has sampled. */
  readonly completionTokens?: number | undefined;
  /** What an evaluation takes, where some of its records were completed; null: there is none. */
  readonly secondsPerEvaluation?: number | null;
}

/** Process memory in addition to counted tensors: packed operands, chunks of logits, garbage (measured). */
const WORKING_BYTES = 170 * 2 ** 20;
/** The same on wasm, where tiles of logits have 8 MiB. */
const WASM_WORKING_BYTES = 64 * 2 ** 20;
/** Steps of a run's history that say how long the next ones take. */
const NEWEST_STEPS = 10;

/** Estimates time and memory of the steps from `firstStep` on. */
export function estimateRun(session: Session, firstStep: number, known: Known = {}): RunEstimate {
  const { config, parameters } = session;
  const before = process.memoryUsage.rss();
  const own = isReinforcement(config.method) ? estimateGrpo(session, known) : estimateSft(session, known);
  const warmUp =
    firstStep < config.warm_up_steps ? estimateSft({ ...session, config: warmUpConfig(config) }, known) : null;
  const bytes = Math.max(own.bytes, warmUp?.bytes ?? 0);
  const isInParts = own.isInParts || warmUp?.isInParts === true;
  const { secondsPerEvaluation = estimateEvaluation(session, own.times, known) } = known;
  const paces = {
    secondsPerStep: own.secondsPerStep,
    ...(own.limitSecondsPerStep !== undefined && { limitSecondsPerStep: own.limitSecondsPerStep }),
    ...(warmUp !== null && { warmUpSecondsPerStep: warmUp.secondsPerStep }),
    ...(secondsPerEvaluation !== null && { secondsPerEvaluation }),
    ...(isReinforcement(config.method) && session.start.rewardAccess != null && { withoutRewards: true }),
  };
  // The moments are zeros that no page of memory holds yet.
  const training = config.use_peft
    ? 3 * 4 * parameterCount(parameters)
    : fullTrainingBytes(session.policy.model.config, gradientsAtOnce(config, isInParts));
  const device = currentDevice();
  const scores = scoreBytes(session.policy.model.config, longestOf(session), device);
  const added = training + bytes + (device === 'wasm' ? WASM_WORKING_BYTES : WORKING_BYTES) + scores;
  const { host: memoryBytes, gpu: gpuBytes } = peakUse(added, before, session.policy.model.config);
  return { ...remaining(paces, config, firstStep), memoryBytes, gpuBytes };
}

/** Tokens of the longest prompt, and of a completion at most. */
function longestOf({ records, evalRecords, maxCompletionLength }: Session) {
  return { promptTokens: longestPrompt([...records, ...evalRecords]), completionTokens: maxCompletionLength };
}

/** The estimate of a resumed run, from its own newest steps; null if it has none. Those of a warm-up are others. */
export function estimateFromHistory(
  history: readonly (Metrics & { readonly step: number })[],
  config: EvaluationPlan & GenerationConfig,
  firstStep: number,
): RunEstimate | null {
  const timed = history.flatMap(({ step, step_time }) => (step > config.warm_up_steps ? (step_time ?? []) : []));
  // Only the mean of steps that share a generation says how long they take: one of them samples.
  const together = Math.min(stepsSharingGeneration(config), timed.length);
  const newest = timed
    .slice(-NEWEST_STEPS - together + 1)
    .flatMap((_, i, times) => (i + together > times.length ? [] : meanOf(times.slice(i, i + together))));
  // A long history has more steps than a call may have arguments.
  const peak = (name: string): number => history.reduce((most, { [name]: mb }) => Math.max(most, mb ?? 0), 0) * 2 ** 20;
  const median = newest.toSorted((a, b) => a - b)[Math.floor(newest.length / 2)];
  if (median === undefined) return null;
  const gpuBytes = isOnGpu(currentDevice()) ? peak('gpu_memory_peak_mb') : 0;
  const evaluations = history.flatMap(({ [EVALUATION_TIME]: seconds }) => seconds ?? []);
  const paces = {
    secondsPerStep: median,
    ...(evaluations.length > 0 && { secondsPerEvaluation: meanOf(evaluations) }),
  };
  return { ...remaining(paces, config, firstStep), memoryBytes: peak('memory_mb'), gpuBytes };
}

/** An estimate of the same run for fewer steps. */
export function remaining(
  paces: StepPaces,
  config: EvaluationPlan,
  firstStep: number,
): StepPaces & { readonly seconds: number } {
  return { ...paces, seconds: secondsFrom(firstStep, config, paces) };
}

interface StepEstimate {
  readonly secondsPerStep: number;
  /** Of its passes. */
  readonly times: PassTimes;
  /** Where completions may get much longer than they are expected to: of a step in which all do. */
  readonly limitSecondsPerStep?: number;
  /** Peak of caches and activations. */
  readonly bytes: number;
  /** Whether the passes over a micro-batch are divided. */
  readonly isInParts: boolean;
}

function estimateGrpo(session: Session, known: Known): StepEstimate {
  const { config } = session;
  const plan = planBatches(config, session.records.length);
  const prompts = generationRecords(plan, 0).flatMap((index) => session.records[index] ?? []);
  const rows = plan.rowsPerMicroBatch;
  const groups = groupsOf(session, prompts, plan.groupSize, known);
  // Decoding first: of all work that reads every weight, its steps are the shortest, so they warm the process up.
  const decoding = decodingOf(session, prompts, known);
  const passes = openPasses(session, groups, rows);
  const { times } = passes;
  const extraForwards = (plan.needsOldLogps ? 1 : 0) + (session.reference === null ? 0 : 1);
  // Dynamic sampling at its worst: every group is dead in every round. A round never holds more than the first did.
  const samplings = 1 + config.dynamic_sampling;
  const generationsPerStep = plan.microBatchesPerStep / plan.microBatchesPerGeneration;
  const microBatchesPerGeneration = rowsOf(plan) / rows;
  const perStep = (of: readonly PromptGroup[], decode: DecodeEstimate, training: number): number => {
    const scoring = extraForwards * times.forward(workOf(session.policy.model.config, of));
    return (
      generationsPerStep * (samplings * decode.seconds(times) + scoring) +
      (plan.microBatchesPerStep / microBatchesPerGeneration) * training
    );
  };
  const atLimit: Known = { completionTokens: session.maxCompletionLength };
  const longest = groupsOf(session, prompts, plan.groupSize, atLimit);
  const most = passesOf(session, longest, rows, times);
  const likely = tokensOf(groups);
  return {
    secondsPerStep: perStep(groups, decoding, passes.seconds),
    times,
    ...(tokensOf(longest) > MUCH_LONGER * likely && {
      limitSecondsPerStep: perStep(longest, decodingOf(session, prompts, atLimit), most.seconds),
    }),
    // A few steps of long completions are enough to need the memory.
    bytes: Math.max(decoding.bytes, passes.bytes, most.bytes),
    isInParts: passes.isInParts || most.isInParts,
  };
}

/** From here on, completions at the limit make another run of it. */
const MUCH_LONGER = 1.5;

/** Tokens of all completions. */
function tokensOf(groups: readonly PromptGroup[]): number {
  return groups.reduce((sum, { completions }) => sum + completions.reduce((all, { length }) => all + length, 0), 0);
}

const rowsOf = (plan: BatchPlan): number => plan.groupsPerGeneration * plan.groupSize;

function estimateSft(session: Session, known: Known): StepEstimate {
  const { config, records } = session;
  const rows = config.per_device_train_batch_size;
  const stream = { records: records.length, seed: config.seed, shuffle: config.shuffle_dataset };
  const groups = Array.from({ length: rows }, (_, i): readonly PromptGroup[] => {
    const record = records[recordAt(stream, i)];
    return record?.lessons ?? [{ promptIds: record?.promptIds ?? [], completions: [record?.targetIds ?? []] }];
  }).flat();
  const passes = openPasses(session, groups, groups.length);
  const more = config.method === 'polychromic-sft' ? diversity(session, passes.times, known) : null;
  return {
    secondsPerStep: config.gradient_accumulation_steps * passes.seconds + (more?.secondsPerStep ?? 0),
    times: passes.times,
    // Micro-batches are added up as parts are, and the samples' gradients to the targets'.
    bytes: Math.max(passes.bytes, more?.bytes ?? 0),
    isInParts: passes.isInParts || config.gradient_accumulation_steps > 1 || more !== null,
  };
}

/** What polychromic SFT adds to a step: sampling, and the loss on the samples, assumed as long as the targets. */
function diversity(session: Session, times: PassTimes, known: Known): Pick<StepEstimate, 'secondsPerStep' | 'bytes'> {
  const { config, records, policy } = session;
  const rows = config.per_device_train_batch_size * config.gradient_accumulation_steps;
  const prompts = Array.from(
    { length: Math.min(config.polychromic_prompts ?? rows, rows) },
    (_, i) => records[i % records.length],
  ).flatMap((record) => record ?? []);
  const decoding = decodingOf(session, prompts, known);
  const groups = groupsOf(session, prompts, config.num_generations, known);
  const sizes = sizesOf(rowsOfGroups(groups));
  const plan = planRows(sizes, tokenCost(policy.model.config), config);
  const training = plan.bytes + keptBy({ start: 0, ...plan }, sizes, policy.model.config.vocabSize);
  return {
    secondsPerStep: decoding.seconds(times) + times.training(workOf(policy.model.config, groups)),
    bytes: Math.max(decoding.bytes, training),
  };
}

/** Seconds of an evaluation: a completion of each record, a micro-batch at a time; null: the run has none. */
function estimateEvaluation(session: Session, times: PassTimes, known: Known): number | null {
  const { config, evalRecords } = session;
  const records = evalRecords.slice(0, config.eval_records);
  if (config.eval_steps === 0 || records.length === 0) return null;
  const batch = records.slice(0, config.per_device_train_batch_size);
  const single = { ...session, config: { ...config, num_generations: 1 } };
  return (records.length / batch.length) * decodingOf(single, batch, known).seconds(times);
}

/** Tokens of a record's completions: as those that were sampled, as its target, or the most where it has no target. */
function expectedTokens(
  { maxCompletionLength, task }: Pick<Session, 'maxCompletionLength' | 'task'>,
  { record, targetIds }: TokenRecord,
  { completionTokens }: Known,
): number {
  const likely = completionTokens ?? (task.target(record) === '' ? maxCompletionLength : targetIds.length);
  return Math.min(maxCompletionLength, likely);
}

/** The prompts with as many completions as are sampled, of the tokens that are expected. */
function groupsOf(session: Session, prompts: readonly TokenRecord[], groupSize: number, known: Known): PromptGroup[] {
  return prompts.map((prompt) => {
    const { promptIds, targetIds } = prompt;
    const length = Math.max(1, Math.round(expectedTokens(session, prompt, known)));
    const completion = Array.from({ length }, (_, i) => targetIds[i % targetIds.length] ?? 0);
    return { promptIds, completions: Array.from({ length: groupSize }, () => completion) };
  });
}

/** Times the passes of micro-batches of `rowsPerMicroBatch` rows; seconds and bytes are of all the groups' rows. */
function openPasses(session: Session, groups: readonly PromptGroup[], rowsPerMicroBatch: number) {
  const { policy, config } = session;
  return withinMemory(
    policy.model,
    config.activation_memory_mb,
    (activation_memory_mb) =>
      passesWithin({ ...session, config: { ...config, activation_memory_mb } }, groups, rowsPerMicroBatch),
    () => undividedMb(sizesOf(rowsOfGroups(groups)).slice(0, rowsPerMicroBatch), tokenCost(policy.model.config)),
  );
}

function passesWithin(session: Session, groups: readonly PromptGroup[], rowsPerMicroBatch: number) {
  const { policy, parameters, config } = session;
  const { range, planned } = planPasses(session, groups, rowsPerMicroBatch);
  const [first] = planned;
  const firstPart = range(0, first?.parts[0]?.end ?? 1);
  const { temperature } = config;
  const times = timePasses(policy, parameters, firstPart, temperature, first?.checkpointing ?? false);
  return { times, ...passesOf(session, groups, rowsPerMicroBatch, times) };
}

/** How the passes over micro-batches are divided, and the rows of such a part. */
function planPasses({ policy, config }: Session, groups: readonly PromptGroup[], rowsPerMicroBatch: number) {
  const cost = tokenCost(policy.model.config);
  const rows = rowsOfGroups(groups);
  const sizes = sizesOf(rows);
  const range = (first: number, end: number): PromptGroup[] =>
    [...Map.groupBy(rows.slice(first, end), ({ group }) => group)].map(([group, members]) => ({
      promptIds: groups[group]?.promptIds ?? [],
      completions: members.map(({ completion }) => completion),
    }));
  const starts = Array.from({ length: Math.ceil(rows.length / rowsPerMicroBatch) }, (_, i) => i * rowsPerMicroBatch);
  const planned = starts.map((start) => ({
    start,
    ...planRows(sizes.slice(start, start + rowsPerMicroBatch), cost, config),
  }));
  return { sizes, range, planned };
}

/** Seconds and bytes of the passes over all the groups' rows, by what they were timed at. */
function passesOf(session: Session, groups: readonly PromptGroup[], rowsPerMicroBatch: number, times: PassTimes) {
  const { policy, config } = session;
  const { sizes, range, planned } = planPasses(session, groups, rowsPerMicroBatch);
  let seconds = 0;
  for (const { start, parts } of planned) {
    for (const part of parts) {
      const work: PassWork = workOf(policy.model.config, range(start + part.first, start + part.end));
      // The loss of a micro-batch in parts needs all of its log-probabilities first; supervised fine-tuning doesn't.
      const before = parts.length > 1 && isReinforcement(config.method) ? times.forward(work) : 0;
      seconds += before + times.training(work);
    }
  }
  const bytes = planned.map((plan) => plan.bytes + keptBy(plan, sizes, policy.model.config.vocabSize));
  return { seconds, bytes: Math.max(0, ...bytes), isInParts: planned.some(({ parts }) => parts.length > 1) };
}

function rowsOfGroups(groups: readonly PromptGroup[]) {
  return groups.flatMap(({ promptIds, completions }, group) =>
    completions.map((completion) => ({ group, prompt: promptIds.length, completion })),
  );
}

function sizesOf(rows: ReturnType<typeof rowsOfGroups>): RowSize[] {
  return rows.map((row) => ({ ...row, completion: Math.max(row.completion.length - 1, 0) }));
}

/** Bytes of logits that the largest part of a micro-batch keeps; native's are within its program's. */
function keptBy(
  { start, parts, keptBytes }: { readonly start: number } & Pick<ReturnType<typeof planRows>, 'parts' | 'keptBytes'>,
  sizes: readonly RowSize[],
  vocabulary: number,
): number {
  if (tf.getBackend() !== 'wasm') return 0;
  const tokens = ({ first, end }: RowRange): number =>
    sizes.slice(start + first, start + end).reduce((sum, { completion }) => sum + completion, 0);
  return Math.max(0, ...parts.map((part) => keptLogits(keptBytes, tokens(part), vocabulary)));
}

interface DecodeEstimate {
  /** Seconds of sampling, by what it takes to read the prompts. */
  readonly seconds: (times: PassTimes) => number;
  /** Peak of the caches. */
  readonly bytes: number;
}

/** Sampling of a generation: prompts read, then decoding steps until the mean length; finished rows cost nothing. */
function decodingOf(session: Session, prompts: readonly TokenRecord[], known: Known): DecodeEstimate {
  const { policy, config } = session;
  const { rows, shape } = decodedOf(session, prompts);
  return withinMemory(
    policy.model,
    config.activation_memory_mb,
    (megabytes) => decodingWithin(session, prompts, known, megabytes),
    () => cacheBytes(policy.model.config, shape, rows) / 2 ** 20,
  );
}

/** Rows that a generation samples, and what they take in the caches. */
function decodedOf({ config, maxCompletionLength }: Session, prompts: readonly TokenRecord[]) {
  const group = config.num_generations;
  const shape = { promptTokens: longestPrompt(prompts), completionTokens: maxCompletionLength, group };
  return { rows: prompts.length * group, shape };
}

function decodingWithin(
  session: Session,
  prompts: readonly TokenRecord[],
  known: Known,
  megabytes: number,
): DecodeEstimate {
  const { policy, maxCompletionLength } = session;
  const model = policy.model.config;
  const length = prompts.reduce((sum, prompt) => sum + expectedTokens(session, prompt, known), 0) / prompts.length;
  const { rows, shape } = decodedOf(session, prompts);
  const { group } = shape;
  const most = rowsAtOnce(model, shape, rows, megabytes * 2 ** 20);
  const batches = Math.ceil(rows / most);
  const together = Math.ceil(rows / batches);
  const some = prompts.slice(0, Math.ceil(together / group)).map(({ promptIds }) => promptIds);
  const shapes = some.map((ids, i) => ({ tokens: ids.length, rows: Math.min(group, together - i * group) }));
  const reading = workOf(
    model,
    some.map((promptIds) => ({ promptIds, completions: [] })),
  );
  const seconds = timeDecoding(policy, {
    prompts: shapes,
    steps: Math.max(1, Math.floor(length)),
    capacity: maxCompletionLength,
  });
  return {
    seconds: (times) => batches * (times.forward(reading) + seconds * (length - 1)),
    bytes: cacheBytes(model, shape, together),
  };
}
