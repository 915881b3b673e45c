/** Changes to a task that aren't saved yet. They outlive another screen, a reload and the end of the app. */

/** The two texts of a task, and the hash of the saved ones that they were changed from. */
export interface StoredDraft {
  readonly definition: string;
  readonly reward: string;
  readonly over: string;
}

const key = (name: string): string => `braid.task.${name}`;

/** The stored draft of a task; null: there is none. */
export function readDraft(name: string, store: Pick<Storage, 'getItem'> = localStorage): StoredDraft | null {
  try {
    const { definition, reward, over } = JSON.parse(store.getItem(key(name)) ?? '{}') as Record<string, unknown>;
    if (typeof definition !== 'string' || typeof reward !== 'string' || typeof over !== 'string') return null;
    return { definition, reward, over };
  } catch {
    return null;
  }
}

/** Whether a task has one. */
export function hasDraft(name: string): boolean {
  return readDraft(name) !== null;
}

/** Keeps a draft; null forgets it. */
export function keepDraft(
  name: string,
  draft: StoredDraft | null,
  store: Pick<Storage, 'setItem' | 'removeItem'> = localStorage,
): void {
  if (draft === null) store.removeItem(key(name));
  else store.setItem(key(name), JSON.stringify(draft));
}
