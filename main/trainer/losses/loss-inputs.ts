/** What the policy loss of a micro-batch needs from outside the model. B rows, T longest completion. */
import type { Completion } from '../../samples/completion.ts';
import type { BatchPlan } from '../batching/batching.ts';
import type { Generation, ScoredGeneration } from '../batching/generation.ts';
import { nameOfRow, ownTokens } from '../batching/rows.ts';
import type { RunConfig } from '../config/config.ts';
import type { LossNormaliser } from './losses.ts';

/** Matrices [B*T] row after row, advantages [B]. */
export interface GivenInputs {
  readonly oldLogps: Float32Array | null;
  readonly refLogps: Float32Array | null;
  readonly advantages: Float32Array;
  readonly mask: Float32Array;
  /** A row in messages. */
  readonly nameOf: (row: number) => string;
}

/** T */
export function longestCompletion(
  { completions }: Pick<ScoredGeneration, 'completions'>,
  rows: readonly number[],
): number {
  return rows.reduce((most, row) => Math.max(most, completions[row]?.ids.length ?? 0), 0);
}

/** Rows of a generation in this order, padded to `columns`. */
export function lossInputs(
  generation: ScoredGeneration,
  rows: readonly number[],
  columns: number,
  maskTruncated: boolean,
): GivenInputs {
  const padded = (all: readonly Float32Array[] | null): Float32Array | null =>
    all === null ? null : padRows(pick(all, rows), columns);
  return {
    oldLogps: padded(generation.oldLogps),
    refLogps: padded(generation.refLogps),
    advantages: Float32Array.from(rows, (row) => generation.result.advantages[row] ?? Number.NaN),
    mask: padRows(
      pick(generation.completions, rows).map((completion) => maskOf(completion, maskTruncated)),
      columns,
    ),
    nameOf: (row) => nameOfRow(generation, rows[row] ?? row),
  };
}

function pick<T>(all: readonly T[], rows: readonly number[]): T[] {
  return rows.flatMap((row) => all[row] ?? []);
}

/** The numbers that the loss is divided by. */
export function lossNormaliser(
  config: Pick<RunConfig, 'mask_truncated_completions'>,
  maxCompletionLength: number,
  plan: BatchPlan,
  generation: Pick<Generation, 'completions'>,
): LossNormaliser {
  return {
    maxCompletionLength,
    numItemsInBatch: generation.completions.reduce(
      (sum, completion) => sum + countedTokens(completion, config.mask_truncated_completions),
      0,
    ),
    gradientAccumulationSteps: plan.microBatchesPerStep,
    stepsPerGeneration: plan.stepsPerGeneration,
  };
}

/** 1 for each token that counts: what an environment wrote doesn't. */
function maskOf({ ids, terminated, toolMask }: Completion, maskTruncated: boolean): Float32Array {
  if (maskTruncated && !terminated) return new Float32Array(0);
  return toolMask === undefined ? new Float32Array(ids.length).fill(1) : Float32Array.from(toolMask);
}

function countedTokens(completion: Completion, maskTruncated: boolean): number {
  return maskTruncated && !completion.terminated ? 0 : ownTokens(completion).length;
}

/** Rows of different lengths as one padded [B*T]. */
export function padRows(rows: readonly Float32Array[], columns: number): Float32Array {
  const out = new Float32Array(rows.length * columns);
  rows.forEach((row, i) => {
    out.set(row, i * columns);
  });
  return out;
}
