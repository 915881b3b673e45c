/**
 * Loss, gradients and metrics of one micro-batch. B rows, T longest completion.
 *
 * Rows without an advantage have no gradient, so they take a forward pass and no backward one.
 *
 * A micro-batch that fits in memory is one forward and one backward pass. A larger one is split into parts: first every
 * part's log-probabilities without a tape, then the loss of the whole micro-batch and its gradient with respect to each
 * log-probability (losses.ts has the closed form), then each part again with that gradient. The result is the same as in
 * a single pass.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PromptGroup } from '../../model/pack.ts';
import { type BatchPlan, type MicroBatch, rowsOf } from '../batching/batching.ts';
import type { Generation, ScoredGeneration } from '../batching/generation.ts';
import { type DeviceBatch, disposeBatch, uploadGroups } from '../batching/packed-batch.ts';
import { allRows, groupsOfRows } from '../batching/rows.ts';
import type { TokenSum } from '../losses/adaptive-entropy.ts';
import { type GivenInputs, longestCompletion, lossInputs, lossNormaliser } from '../losses/loss-inputs.ts';
import { grpoLoss, type HostMatrices, joined } from '../losses/loss-op.ts';
import { hasPolicyTermOnly, type LossNormaliser, type PolicyLoss, policyLoss } from '../losses/losses.ts';
import { planRows, tokenCost, undividedMb } from '../memory/activations.ts';
import { withinMemory } from '../memory/within-memory.ts';
import type { Gradients } from '../optim/optimizer.ts';
import { accumulateGradients } from '../optim/optimizer.ts';
import { completionLogps, hostLogps, lossAndGradients, type PassOptions, type Policy } from '../policy/policy.ts';
import type { Session } from './session.ts';

/** What the loss of a micro-batch needs of a session. */
export type LossContext = Pick<Session, 'config' | 'policy' | 'parameters' | 'maxCompletionLength'>;

export interface MicroBatchResult {
  readonly loss: number;
  /** By parameter; the caller disposes of them. */
  readonly gradients: Gradients;
  readonly metrics: Readonly<Record<string, number>>;
  /** Of the tokens that keep their policy term. */
  readonly entropy: TokenSum;
}

/** Loss, gradients and metrics of one micro-batch; when memory runs out, in smaller parts from then on. */
export function microBatchLoss(
  context: LossContext,
  plan: BatchPlan,
  generation: ScoredGeneration,
  micro: MicroBatch,
): MicroBatchResult {
  const { policy, config } = context;
  const rows = bySignal(generation, rowsOf(micro), config);
  const undivided = [rows.heard, rows.silent].map((part) => undividedRows(policy, generation, part, plan.groupSize));
  return withinMemory(
    policy.model,
    config.activation_memory_mb,
    (activation_memory_mb) =>
      lossWithin({ ...context, config: { ...config, activation_memory_mb } }, plan, generation, rows),
    () => Math.max(...undivided.map((megabytes) => megabytes())),
  );
}

/** Rows of a micro-batch by whether the loss can have a gradient with respect to their log-probabilities. */
interface RowsBySignal {
  readonly heard: readonly number[];
  readonly silent: readonly number[];
}

/** A row without an advantage has none, unless something besides the policy term counts. */
function bySignal(
  { result: { advantages } }: Pick<ScoredGeneration, 'result'>,
  rows: readonly number[],
  config: LossContext['config'],
): RowsBySignal {
  if (!hasPolicyTermOnly(config)) return { heard: rows, silent: [] };
  return {
    heard: rows.filter((row) => advantages[row] !== 0),
    silent: rows.filter((row) => advantages[row] === 0),
  };
}

/** Silent rows need a forward pass alone: metrics and normalisation count their tokens. */
function lossWithin(
  context: LossContext,
  plan: BatchPlan,
  generation: ScoredGeneration,
  { heard, silent }: RowsBySignal,
): MicroBatchResult {
  const { policy, config } = context;
  const rows = [...heard, ...silent];
  const columns = longestCompletion(generation, rows);
  const given = lossInputs(generation, rows, columns, config.mask_truncated_completions);
  const normaliser = lossNormaliser(config, context.maxCompletionLength, plan, generation);
  const groupsOf = (part: readonly number[]): PromptGroup[] => groupsOfRows(generation, part, plan.groupSize);
  const silentParts = partsOf(policy, generation, silent, plan.groupSize, config).parts.map(groupsOf);
  const { parts, ...pass } = partsOf(policy, generation, heard, plan.groupSize, config);
  if (parts.length !== 1) return inParts(context, parts.map(groupsOf), silentParts, columns, given, normaliser, pass);
  const rest = hostMatrices(context, silentParts, columns);
  return inOnePass(context, groupsOf(heard), columns, { ...given, rest }, normaliser, pass);
}

/** What the loss needs beside the log-probabilities of the rows with a gradient, which come first. */
interface PassInputs extends GivenInputs {
  /** Of the rows without one. */
  readonly rest: HostMatrices;
}

function inOnePass(
  { policy, parameters, config }: LossContext,
  groups: readonly PromptGroup[],
  columns: number,
  given: PassInputs,
  normaliser: LossNormaliser,
  pass: PassOptions,
): MicroBatchResult {
  return withBatch(groups, columns, (batch) =>
    tf.tidy(() => {
      let metrics: Readonly<Record<string, number>> = {};
      let entropy: TokenSum = { sum: 0, tokens: 0 };
      const { value, grads } = lossAndGradients(() => {
        const logps = completionLogps(policy, batch, config.temperature, pass); // [B, T]
        const loss = grpoLoss({ ...logps, ...given }, normaliser, config);
        ({ metrics, entropy } = loss);
        return loss.loss;
      }, parameters);
      return { loss: scalar(value), gradients: keepByName(parameters, grads), metrics, entropy };
    }),
  );
}

function inParts(
  context: LossContext,
  parts: readonly PromptGroup[][],
  silent: readonly PromptGroup[][],
  columns: number,
  given: GivenInputs,
  normaliser: LossNormaliser,
  pass: PassOptions,
): MicroBatchResult {
  const matrices = hostMatrices(context, [...parts, ...silent], columns);
  const { loss, metrics, entropy, ...whole } = policyLoss(
    { ...given, ...matrices, rows: given.advantages.length, columns },
    normaliser,
    context.config,
  );
  let gradients: Gradients | null = null;
  try {
    for (const { groups, firstRow } of longestFirst(parts)) {
      const more = partGradients(context, groups, columns, whole, firstRow, pass);
      gradients = accumulateGradients(gradients, more);
    }
  } catch (error) {
    tf.dispose(gradients ?? {});
    throw error;
  }
  return { loss, gradients: gradients ?? zeroGradients(context.parameters), metrics, entropy };
}

function zeroGradients(parameters: LossContext['parameters']): Gradients {
  return Object.fromEntries(parameters.map(({ name, value }) => [name, tf.keep(tf.zerosLike(value))]));
}

/** If memory doesn't suffice, it shows before work is wasted. */
function longestFirst(parts: readonly PromptGroup[][]) {
  let firstRow = 0;
  const placed = parts.map((groups) => {
    const part = { groups, firstRow };
    firstRow += groups.reduce((sum, { completions }) => sum + completions.length, 0);
    return part;
  });
  return placed.sort((a, b) => packedTokens(b.groups) - packedTokens(a.groups));
}

/** Each prompt once, and its completions. */
function packedTokens(groups: readonly PromptGroup[]): number {
  return groups.reduce((sum, { promptIds, completions }) => sum + promptIds.length + completions.flat().length, 0);
}

/** Log-probabilities and entropies of all parts, without gradients. */
function hostMatrices({ policy, config }: LossContext, parts: readonly PromptGroup[][], columns: number): HostMatrices {
  const found = parts.map((groups) =>
    withBatch(groups, columns, (batch) => hostLogps(policy, batch, config.temperature)),
  );
  return {
    logps: joined(found.map(({ logps }) => logps)),
    entropies: joined(found.map(({ entropies }) => entropies)),
  };
}

/** One part's gradients: its log-probabilities weighted by the loss's gradient with respect to them. */
function partGradients(
  { policy, parameters, config }: LossContext,
  groups: readonly PromptGroup[],
  columns: number,
  whole: Pick<PolicyLoss, 'gradLogps' | 'gradEntropies'>,
  firstRow: number,
  pass: PassOptions,
): Gradients {
  return withBatch(groups, columns, (batch) =>
    tf.tidy(() => {
      const weights = (values: Float32Array): tf.Tensor =>
        tf.tensor2d(values.slice(firstRow * columns, (firstRow + batch.rows) * columns), [batch.rows, columns]);
      const { grads } = lossAndGradients(() => {
        const { logps, entropies } = completionLogps(policy, batch, config.temperature, pass);
        const fromLogps = tf.sum(tf.mul(logps, weights(whole.gradLogps)));
        if (whole.gradEntropies === null) return fromLogps as tf.Scalar;
        return tf.add(fromLogps, tf.sum(tf.mul(entropies, weights(whole.gradEntropies)))) as tf.Scalar;
      }, parameters);
      return keepByName(parameters, grads);
    }),
  );
}

/** Log-probabilities of every row's completion under a policy, one array per row. */
export function rowLogps(
  policy: Policy,
  plan: Pick<BatchPlan, 'rowsPerMicroBatch' | 'groupSize'>,
  generation: Pick<Generation, 'prompts' | 'completions'>,
  config: Pick<Session['config'], 'temperature' | 'activation_memory_mb' | 'gradient_checkpointing'>,
): Float32Array[] {
  return withinMemory(
    policy.model,
    config.activation_memory_mb,
    (activation_memory_mb) => rowLogpsWithin(policy, plan, generation, { ...config, activation_memory_mb }),
    undividedRows(policy, generation, allRows(generation), plan.groupSize),
  );
}

function rowLogpsWithin(
  ...[policy, plan, generation, config]: Parameters<typeof rowLogps>
): ReturnType<typeof rowLogps> {
  return partsOf(policy, generation, allRows(generation), plan.groupSize, config).parts.flatMap((part) =>
    withBatch(groupsOfRows(generation, part, plan.groupSize), undefined, (batch) => {
      const { logps } = hostLogps(policy, batch, config.temperature);
      return part.map((row, i) => {
        const length = generation.completions[row]?.ids.length ?? 0;
        return logps.slice(i * batch.columns, i * batch.columns + length);
      });
    }),
  );
}

/** Runs `work` on a batch and disposes of it. */
export function withBatch<T>(
  groups: readonly PromptGroup[],
  columns: number | undefined,
  work: (batch: DeviceBatch) => T,
): T {
  const batch = uploadGroups(groups, columns);
  try {
    return work(batch);
  } finally {
    disposeBatch(batch);
  }
}

/** How the rows of a generation are run, by their row numbers in the generation. */
export function partsOf(
  { model }: Policy,
  generation: Pick<Generation, 'prompts' | 'completions'>,
  rows: readonly number[],
  groupSize: number,
  config: Pick<Session['config'], 'activation_memory_mb' | 'gradient_checkpointing'>,
) {
  const sizes = rowSizes(generation, rows, groupSize);
  const { parts, checkpointing, keptBytes } = planRows(sizes, tokenCost(model.config), config);
  return {
    parts: parts.map(({ first, end }) => rows.slice(first, end)),
    checkpointing,
    keptBytes,
  };
}

/** MiB of a pass over all of the rows at once. */
export function undividedRows(
  { model }: Policy,
  generation: Pick<Generation, 'prompts' | 'completions'>,
  rows: readonly number[],
  groupSize: number,
): () => number {
  return () => undividedMb(rowSizes(generation, rows, groupSize), tokenCost(model.config));
}

function rowSizes(
  { prompts, completions }: Pick<Generation, 'prompts' | 'completions'>,
  rows: readonly number[],
  groupSize: number,
) {
  return rows.map((row) => {
    const group = Math.floor(row / groupSize);
    const completion = Math.max((completions[row]?.ids.length ?? 1) - 1, 0);
    return { group, prompt: prompts[group]?.promptIds.length ?? 0, completion };
  });
}

/** Gradients kept beyond a tidy, by parameter. */
export function keepByName(parameters: LossContext['parameters'], grads: readonly tf.Tensor[]): Gradients {
  return Object.fromEntries(parameters.map(({ name }, i) => [name, tf.keep(grads[i] as tf.Tensor)]));
}

function scalar(value: tf.Scalar): number {
  return value.dataSync<'float32'>()[0] ?? Number.NaN;
}
