/** Texts that were removed, with all that brings them back, while the app is open. */
import { inputError } from '../../errors.ts';
import type { TextPart } from '../../store/texts.ts';

export interface RemovedTexts {
  /** Keeps what was removed at once; returns its id. */
  hold(parts: readonly TextPart[]): number;
  /** Gives it back, once. */
  take(id: number): readonly TextPart[];
}

/** Removals that can be undone. */
const KEPT = 10;

/** Opens an empty set. */
export function openRemovedTexts(): RemovedTexts {
  const held = new Map<number, readonly TextPart[]>();
  let lastId = 0;
  return {
    hold: (parts) => {
      held.set(++lastId, parts);
      for (const id of [...held.keys()].slice(0, -KEPT)) held.delete(id);
      return lastId;
    },
    take: (id) => {
      const parts = held.get(id);
      held.delete(id);
      if (parts !== undefined) return parts;
      throw inputError('REMOVAL_GONE', "This deletion can't be undone any more", 'Import the texts again.');
    },
  };
}
