/** Imports that were read and shown, and wait for the person's word. They are lost with the app; nothing else is. */
import { inputError } from '../../errors.ts';
import type { SourceText } from '../corpora/source-text.ts';

export interface StagedImports {
  /** Keeps the texts of an import; gives its id. */
  hold(texts: readonly SourceText[]): number;
  get(id: number): readonly SourceText[];
  drop(id: number): void;
}

/** Imports kept at once: texts of a page that was closed must not stay for ever. */
const KEPT = 3;

/** Opens an empty shelf. */
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
      throw inputError(
        'IMPORT_GONE',
        'This import is no longer held; nothing of it came in',
        'Choose the files again.',
      );
    },
    drop: (id) => void held.delete(id),
  };
}
