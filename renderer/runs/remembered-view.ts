/** The columns, the grouping and the sorting of the run list, kept in this browser. */
import { useState } from 'react';
import { type ColumnId, columns, defaultColumns, type Sorting } from './run-columns.ts';
import { type Grouping, groupings } from './run-groups.ts';

export interface ListView {
  /** In the list's own order; `name` is always among them. null: the default ones that fit the window. */
  readonly columns: readonly ColumnId[] | null;
  readonly groupBy: Grouping;
  /** null: newest first. */
  readonly sorting: Sorting | null;
}

export const defaultView: ListView = { columns: null, groupBy: 'none', sorting: null };

const STORED = 'braid.runs.view';

/** The view that was stored; what can't be read is as it was at first. */
export function readView(stored: string | null): ListView {
  try {
    const {
      columns: chosen,
      groupBy,
      sorting,
    } = JSON.parse(stored ?? '{}') as Partial<Record<keyof ListView, unknown>>;
    return {
      columns: columnsIn(chosen),
      groupBy: groupings.find((by) => by === groupBy) ?? 'none',
      sorting: sortingIn(sorting),
    };
  } catch {
    return defaultView;
  }
}

/** Stored defaults, as earlier versions kept them beside a grouping or sorting, are no choice. */
function columnsIn(stored: unknown): readonly ColumnId[] | null {
  if (!Array.isArray(stored)) return null;
  const chosen = columns.map(({ id }) => id).filter((id) => id === 'name' || stored.includes(id));
  return chosen.join() === defaultColumns(Number.POSITIVE_INFINITY).join() ? null : chosen;
}

function sortingIn(stored: unknown): Sorting | null {
  const { column, direction } = (stored ?? {}) as Partial<Record<keyof Sorting, unknown>>;
  const known = columns.find(({ id }) => id === column);
  if (known === undefined || (direction !== 'ascending' && direction !== 'descending')) return null;
  return { column: known.id, direction };
}

export function useRememberedView(): readonly [ListView, (change: Partial<ListView>) => void] {
  const [view, setView] = useState(() => readView(localStorage.getItem(STORED)));
  const change = (part: Partial<ListView>): void => {
    const next = { ...view, ...part };
    localStorage.setItem(STORED, JSON.stringify(next));
    setView(next);
  };
  return [view, change];
}
