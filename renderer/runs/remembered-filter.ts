/** The search and state of the list of runs, kept in this browser for each workspace. */
import { useMemo, useState } from 'react';
import { type StateFilter, stateFilters } from './run-rows.ts';

export interface RunFilter {
  readonly words: string;
  readonly state: StateFilter;
}

const keyOf = (workspace: string): string => `braid.runs.filter.${workspace}`;
const NONE: RunFilter = { words: '', state: 'all' };

/** The filter that was stored; none where it can't be read. */
export function readFilter(stored: string | null): RunFilter {
  try {
    const { words, state } = JSON.parse(stored ?? '{}') as { words?: unknown; state?: unknown };
    return {
      words: typeof words === 'string' ? words : NONE.words,
      state: stateFilters.find((known) => known === state) ?? NONE.state,
    };
  } catch {
    return NONE;
  }
}

/** By the path of the workspace; while that isn't known, nothing is filtered or kept. */
export function useRememberedFilter(
  workspace: string | undefined,
): readonly [RunFilter, (change: Partial<RunFilter>) => void] {
  const stored = useMemo(
    () => (workspace === undefined ? NONE : readFilter(localStorage.getItem(keyOf(workspace)))),
    [workspace],
  );
  const [changed, setChanged] = useState<RunFilter | null>(null);
  const filter = changed ?? stored;
  const change = (part: Partial<RunFilter>): void => {
    const next = { ...filter, ...part };
    if (workspace !== undefined) localStorage.setItem(keyOf(workspace), JSON.stringify(next));
    setChanged(next);
  };
  return [filter, change];
}
