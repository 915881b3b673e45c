import { useMemo, useSyncExternalStore } from 'react';
import { type ColumnId, defaultColumns } from './run-columns.ts';

/** The columns that a list shows until the user chooses: as many as fit the window. */
export function useDefaultColumns(): readonly ColumnId[] {
  const ids = useSyncExternalStore(subscribe, () => defaultColumns(window.innerWidth).join());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list only where its columns are others
  return useMemo(() => defaultColumns(window.innerWidth), [ids]);
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('resize', onChange);
  return () => window.removeEventListener('resize', onChange);
}
