/** The shape of each run's reward, asked for in blocks of runs: scrolling asks seldom, and a list asks before it is opened. */
import { useQueries } from '@tanstack/react-query';
import { api } from '../api/client.ts';

export type Sparklines = Readonly<Record<number, readonly number[]>>;

/** Runs of one block: those whose ids follow one another. */
const BLOCK = 32;

/** Those of the block with this run; the host has nothing to tell of runs that are not there. */
export function sparklinesAround(runId: number) {
  const first = runId - ((runId - 1) % BLOCK);
  const runIds = Array.from({ length: BLOCK }, (_, at) => first + at);
  return api.runs.sparklines.queryOptions({ input: { runIds } });
}

/** By run id, as far as they are here. */
export function useSparklines(runIds: readonly number[]): Sparklines {
  const blocks = new Map(runIds.map((id) => [Math.floor((id - 1) / BLOCK), id]));
  return useQueries({ queries: [...blocks.values()].map(sparklinesAround), combine });
}

function combine(answers: readonly { readonly data: Sparklines | undefined }[]): Sparklines {
  return Object.assign({}, ...answers.map(({ data }) => data));
}
