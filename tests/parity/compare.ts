/** Helpers of the parity tests. */
import type { GenerateOptions } from '../../main/model/generate.ts';

/** The largest absolute difference of two lists of rows; rows must have equal lengths. */
export function largestDifference(ours: readonly ArrayLike<number>[], theirs: readonly ArrayLike<number>[]): number {
  let largest = ours.length === theirs.length ? 0 : Infinity;
  ours.forEach((row, r) => {
    const other = theirs[r];
    if (other === undefined || other.length !== row.length) largest = Infinity;
    else for (let i = 0; i < row.length; i++) largest = Math.max(largest, distance(row[i], other[i]));
  });
  return largest;
}

function distance(a: number | undefined, b: number | undefined): number {
  const difference = Math.abs((a ?? Number.NaN) - (b ?? Number.NaN));
  return Number.isNaN(difference) ? Infinity : difference;
}

/** Tokens of a completion on a slow backend, whose kernels are the same at each. */
export const FEW_TOKENS = 12;

/** One greedy completion a prompt. */
export function greedyOptions(eosTokenIds: readonly number[], maxNewTokens = 24): GenerateOptions {
  return {
    numGenerations: 1,
    maxNewTokens,
    eosTokenIds,
    coordinates: [0],
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: null,
    repetitionPenalty: 1,
  };
}
