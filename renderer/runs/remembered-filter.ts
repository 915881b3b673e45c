/** The search and state of the list of runs, kept in this browser. */
import { useState } from 'react';
import { type StateFilter, stateFilters } from './run-rows.ts';

export interface RunFilter {
  readonly words: string;
  readonly state: StateFilter;
}

const STORED = 'braid.runs.filter';
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

export function useRememberedFilter(): readonly [RunFilter, (change: Partial<RunFilter>) => void] {
  const [filter, setFilter] = useState(() => readFilter(localStorage.getItem(STORED)));
  const change = (part: Partial<RunFilter>): void => {
    const next = { ...filter, ...part };
    localStorage.setItem(STORED, JSON.stringify(next));
    setFilter(next);
  };
  return [filter, change];
}
