/** The shape of each run's reward, asked for in blocks of runs: scrolling asks seldom, and a list asks before it is opened. */
import { useQueries } from '@tanstack/react-query';
import { api } from '../api/client.ts';

export type Sparklines = Readonly<Record<number, readonly number[]>>;

/** Runs of one block: those whose ids follow one another. */
const BLOCK = 32;

/** Those of the block with this run. */
export function sparklinesAround(runId: number) {
  return sparklinesFrom(firstOfBlock(runId));
}

/** The host has nothing to tell of runs that are not there. */
function sparklinesFrom(first: number) {
  const runIds = Array.from({ length: BLOCK }, (_, at) => first + at);
  return api.runs.sparklines.queryOptions({ input: { runIds } });
}

function firstOfBlock(runId: number): number {
  return runId - ((runId - 1) % BLOCK);
}

/** By run id, as far as they are here. */
export function useSparklines(runIds: readonly number[]): Sparklines {
  const blocks = [...new Set(runIds.map(firstOfBlock))];
  return useQueries({ queries: blocks.map(sparklinesFrom), combine });
}

function combine(answers: readonly { readonly data: Sparklines | undefined }[]): Sparklines {
  return Object.assign({}, ...answers.map(({ data }) => data));
}
