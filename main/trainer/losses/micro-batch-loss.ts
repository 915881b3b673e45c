/**
 * Loss, gradients and metrics of one micro-batch. B rows, T longest completion.
 *
 * A micro-batch that fits in memory is one forward and one backward pass. A larger one is split into parts: first every
 * part's log-probabilities without a tape, then the loss of the whole micro-batch and its gradient with respect to each
 * log-probability (losses.ts has the closed form), then each part again with that gradient. The result is the same as in
 * a single pass.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PromptGroup } from '../../model/pack.ts';
import type { BatchPlan, MicroBatch } from '../batching/batching.ts';
import type { Generation, ScoredGeneration } from '../batching/generation.ts';
import { type DeviceBatch, disposeBatch, uploadGroups } from '../batching/packed-batch.ts';
import { planRows, type RowRange, tokenCost, undividedMb } from '../memory/memory.ts';
import { withinMemory } from '../memory/within-memory.ts';
import type { Gradients } from '../optimizer.ts';
import { accumulateGradients } from '../optimizer.ts';
import { completionLogps, hostLogps, lossAndGradients, type PassOptions, type Policy } from '../policy.ts';
import { groupsOfRows } from '../rollout.ts';
import type { Session } from '../session.ts';
import type { TokenSum } from './adaptive-entropy.ts';
import { type GivenInputs, longestCompletion, lossInputs, lossNormaliser } from './loss-inputs.ts';
import { grpoLoss } from './loss-op.ts';
import { type LossNormaliser, type PolicyLoss, policyLoss } from './losses.ts';

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
  return withinMemory(
    policy.model,
    config.activation_memory_mb,
    (activation_memory_mb) =>
      lossWithin({ ...context, config: { ...config, activation_memory_mb } }, plan, generation, micro),
    undividedRows(policy, generation, { first: micro.firstRow, end: micro.endRow }, plan.groupSize),
  );
}

function lossWithin(
  context: LossContext,
  plan: BatchPlan,
  generation: ScoredGeneration,
  micro: MicroBatch,
): MicroBatchResult {
  const columns = longestCompletion(generation, micro);
  const given = lossInputs(generation, micro, columns, context.config.mask_truncated_completions);
  const normaliser = lossNormaliser(context.config, context.maxCompletionLength, plan, generation);
  const rows: RowRange = { first: micro.firstRow, end: micro.endRow };
  const { parts, ...pass } = partsOf(context.policy, generation, rows, plan.groupSize, context.config);
  const groups = (range: RowRange): PromptGroup[] => groupsOfRows(generation, range.first, range.end, plan.groupSize);
  const silent = isSilent(given, context.config);
  if (parts.length === 1 && !silent) return inOnePass(context, groups(rows), columns, given, normaliser, pass);
  const packed = parts.map((range) => ({ range, groups: groups(range) }));
  return silent
    ? withoutGradient(context, packed, columns, given, normaliser)
    : inParts(context, packed, columns, given, normaliser, pass);
}

function inOnePass(
  { policy, parameters, config }: LossContext,
  groups: readonly PromptGroup[],
  columns: number,
  given: GivenInputs,
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

/** Whether the loss can't have a gradient: every advantage is 0, and nothing besides the policy term counts. */
function isSilent({ advantages }: GivenInputs, { beta, entropy_coef }: LossContext['config']): boolean {
  return beta === 0 && entropy_coef === 0 && advantages.every((advantage) => advantage === 0);
}

/** Such a micro-batch needs no backward pass; its metrics still need the log-probabilities. */
function withoutGradient(
  context: LossContext,
  parts: readonly Part[],
  columns: number,
  given: GivenInputs,
  normaliser: LossNormaliser,
): MicroBatchResult {
  const { loss, metrics, entropy } = policyLoss(
    { ...given, ...hostMatrices(context, parts, columns), rows: given.advantages.length, columns },
    normaliser,
    context.config,
  );
  const zeros = context.parameters.map(({ name, value }) => [name, tf.keep(tf.zerosLike(value))] as const);
  return { loss, gradients: Object.fromEntries(zeros), metrics, entropy };
}

interface Part {
  readonly range: RowRange;
  readonly groups: readonly PromptGroup[];
}

function inParts(
  context: LossContext,
  parts: readonly Part[],
  columns: number,
  given: GivenInputs,
  normaliser: LossNormaliser,
  pass: PassOptions,
): MicroBatchResult {
  const whole = policyLoss(
    { ...given, ...hostMatrices(context, parts, columns), rows: given.advantages.length, columns },
    normaliser,
    context.config,
  );
  const [start = 0] = parts.map(({ range }) => range.first);
  // Longest first: if memory doesn't suffice, it shows before work is wasted.
  const ordered = parts.toSorted((a, b) => partTokens(b) - partTokens(a));
  let gradients: Gradients | null = null;
  try {
    for (const { range, groups } of ordered) {
      const more = partGradients(context, groups, columns, whole, range.first - start, pass);
      gradients = accumulateGradients(gradients, more);
    }
  } catch (error) {
    tf.dispose(gradients ?? {});
    throw error;
  }
  return { loss: whole.loss, gradients: gradients ?? {}, metrics: whole.metrics, entropy: whole.entropy };
}

/** Packed tokens of a part: each prompt once, and its completions. */
function partTokens({ groups }: Part): number {
  return groups.reduce((sum, { promptIds, completions }) => sum + promptIds.length + completions.flat().length, 0);
}

/** Log-probabilities and entropies of all parts, without gradients. */
function hostMatrices({ policy, config }: LossContext, parts: readonly Part[], columns: number) {
  const found = parts.map(({ groups }) =>
    withBatch(groups, columns, (batch) => hostLogps(policy, batch, config.temperature)),
  );
  const join = (matrices: readonly Float32Array[]): Float32Array => {
    const out = new Float32Array(matrices.reduce((sum, { length }) => sum + length, 0));
    matrices.reduce((at, matrix) => {
      out.set(matrix, at);
      return at + matrix.length;
    }, 0);
    return out;
  };
  return { logps: join(found.map(({ logps }) => logps)), entropies: join(found.map(({ entropies }) => entropies)) };
}

/** One part's gradients: its log-probabilities weighted by the loss's gradient with respect to them. */
function partGradients(
  { policy, parameters, config }: LossContext,
  groups: readonly PromptGroup[],
  columns: number,
  whole: PolicyLoss,
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
    undividedRows(policy, generation, { first: 0, end: generation.completions.length }, plan.groupSize),
  );
}

function rowLogpsWithin(
  ...[policy, plan, generation, config]: Parameters<typeof rowLogps>
): ReturnType<typeof rowLogps> {
  const all: RowRange = { first: 0, end: generation.completions.length };
  return partsOf(policy, generation, all, plan.groupSize, config).parts.flatMap(({ first, end }) =>
    withBatch(groupsOfRows(generation, first, end, plan.groupSize), undefined, (batch) => {
      const { logps } = hostLogps(policy, batch, config.temperature);
      return Array.from({ length: end - first }, (_, i) => {
        const length = generation.completions[first + i]?.ids.length ?? 0;
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
  rows: RowRange,
  groupSize: number,
  config: Pick<Session['config'], 'activation_memory_mb' | 'gradient_checkpointing'>,
) {
  const sizes = rowSizes(generation, rows, groupSize);
  const { parts, checkpointing, keptBytes } = planRows(sizes, tokenCost(model.config), config);
  return {
    parts: parts.map(({ first, end }): RowRange => ({ first: rows.first + first, end: rows.first + end })),
    checkpointing,
    keptBytes,
  };
}

/** MiB of a pass over all of the rows at once. */
export function undividedRows(
  { model }: Policy,
  generation: Pick<Generation, 'prompts' | 'completions'>,
  rows: RowRange,
  groupSize: number,
): () => number {
  return () => undividedMb(rowSizes(generation, rows, groupSize), tokenCost(model.config));
}

function rowSizes(
  { prompts, completions }: Pick<Generation, 'prompts' | 'completions'>,
  { first, end }: RowRange,
  groupSize: number,
) {
  return Array.from({ length: end - first }, (_, i) => {
    const group = Math.floor((first + i) / groupSize);
    const completion = Math.max((completions[first + i]?.ids.length ?? 1) - 1, 0);
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
