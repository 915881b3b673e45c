/**
 * Changes to a task that aren't saved yet. They outlive another screen, a reload and the end of the app. Each workspace
 * has its own: a browser keeps what all of them store in one place.
 */

/** The two texts of a task, and the hash of the saved ones that they were changed from. */
export interface StoredDraft {
  readonly definition: string;
  readonly reward: string;
  readonly over: string;
}

/** A task by its name, in the workspace at a path. */
export interface TaskPlace {
  readonly workspace: string;
  readonly name: string;
}

const keyOf = ({ workspace, name }: TaskPlace): string => `braid.task.${name}.${workspace}`;

/** The stored draft of a task; null: there is none. */
export function readDraft(task: TaskPlace, store: Pick<Storage, 'getItem'> = localStorage): StoredDraft | null {
  try {
    const { definition, reward, over } = JSON.parse(store.getItem(keyOf(task)) ?? '{}') as Record<string, unknown>;
    if (typeof definition !== 'string' || typeof reward !== 'string' || typeof over !== 'string') return null;
    return { definition, reward, over };
  } catch {
    return null;
  }
}

/** Whether a task has one. */
export function hasDraft(task: TaskPlace): boolean {
  return readDraft(task) !== null;
}

/** Keeps a draft; null forgets it. */
export function keepDraft(
  task: TaskPlace,
  draft: StoredDraft | null,
  store: Pick<Storage, 'setItem' | 'removeItem'> = localStorage,
): void {
  try {
    if (draft === null) store.removeItem(keyOf(task));
    else store.setItem(keyOf(task), JSON.stringify(draft));
  } catch {
    // Storage may be denied or full: the changes then live as long as the screen.
  }
}
