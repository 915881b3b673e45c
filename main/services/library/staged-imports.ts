/** Previewed imports that wait for confirmation. They are lost when the app quits; nothing else is. */
import { inputError } from '../../errors.ts';
import type { SourceText } from '../texts/source-text.ts';

export interface StagedImports {
  /** Stores the texts of an import; returns its id. */
  hold(texts: readonly SourceText[]): number;
  get(id: number): readonly SourceText[];
  drop(id: number): void;
}

/** Maximum pending imports: those of a closed page must not stay forever. */
const KEPT = 3;

/** Opens an empty set. */
export function openStagedImports(): StagedImports {
  const held = new Map<number, readonly SourceText[]>();
  let lastId = 0;
  return {
    hold: (texts) => {
      held.set(++lastId, texts);
      for (const id of [...held.keys()].slice(0, -KEPT)) held.delete(id);
      return lastId;
    },
    get: (id) => {
      const texts = held.get(id);
      if (texts !== undefined) return texts;
      throw inputError('IMPORT_GONE', 'This import has expired; nothing was imported', 'Choose the files again.');
    },
    drop: (id) => void held.delete(id),
  };
}
