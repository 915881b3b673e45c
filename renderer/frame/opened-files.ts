/** Text files that the desktop was asked to open, queued until the import screen picks them up. */

let files: readonly string[] = [];
const listeners = new Set<() => void>();

/** For useSyncExternalStore. */
export const openedFiles = {
  get: (): readonly string[] => files,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** Adds files to the queue. */
export function offerFiles(more: readonly string[]): void {
  set([...new Set([...files, ...more])]);
}

/** Empties the queue and returns its files. */
export function takeFiles(): readonly string[] {
  const taken = files;
  if (taken.length > 0) set([]);
  return taken;
}

function set(next: readonly string[]): void {
  files = next;
  for (const listener of listeners) listener();
}
