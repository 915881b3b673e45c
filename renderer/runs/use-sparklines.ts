/** Reward sparklines, fetched in blocks of runs: scrolling rarely fetches, and the list can be prefetched. */
import { useQueries } from '@tanstack/react-query';
import { api } from '../api/client.ts';

export type Sparklines = Readonly<Record<number, readonly number[]>>;

/** Runs per block of consecutive ids. */
const BLOCK = 32;

/** The sparklines of the block with this run. */
export function sparklinesAround(runId: number) {
  return sparklinesFrom(firstOfBlock(runId));
}

/** The host ignores ids of runs that don't exist. */
function sparklinesFrom(first: number) {
  const runIds = Array.from({ length: BLOCK }, (_, at) => first + at);
  return api.runs.sparklines.queryOptions({ input: { runIds } });
}

function firstOfBlock(runId: number): number {
  return runId - ((runId - 1) % BLOCK);
}

/** By run id, as far as they are loaded. */
export function useSparklines(runIds: readonly number[]): Sparklines {
  const blocks = [...new Set(runIds.map(firstOfBlock))];
  return useQueries({ queries: blocks.map(sparklinesFrom), combine });
}

function combine(answers: readonly { readonly data: Sparklines | undefined }[]): Sparklines {
  return Object.assign({}, ...answers.map(({ data }) => data));
}
