/** Previewed imports that wait for confirmation. They are lost when the app quits; nothing else is. */
import { inputError } from '../../errors.ts';
import type { Place } from '../texts/merge.ts';
import type { SourceText } from '../texts/source-text.ts';

export interface StagedImport {
  readonly texts: readonly SourceText[];
  /** Where the text is that each one resembles first; null: none. */
  readonly places: readonly (Place | null)[];
}

export interface StagedImports {
  /** Stores the texts of an import; returns its id. */
  hold(staged: StagedImport): number;
  get(id: number): StagedImport;
  drop(id: number): void;
}

/** Maximum pending imports: those of a closed page must not stay forever. */
const KEPT = 3;

/** Opens an empty set. */
export function openStagedImports(): StagedImports {
  const held = new Map<number, StagedImport>();
  let lastId = 0;
  return {
    hold: (staged) => {
      held.set(++lastId, staged);
      for (const id of [...held.keys()].slice(0, -KEPT)) held.delete(id);
      return lastId;
    },
    get: (id) => {
      const staged = held.get(id);
      if (staged !== undefined) return staged;
      throw inputError('IMPORT_GONE', 'This import has expired; nothing was imported', 'Choose the files again.');
    },
    drop: (id) => void held.delete(id),
  };
}
