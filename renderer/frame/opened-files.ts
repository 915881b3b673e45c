/** Text files that the desktop was asked to open, queued until the import screen picks them up. */
import { observable } from '../components/observable.ts';

export const openedFiles = observable<readonly string[]>([]);

/** Adds files to the queue. */
export function offerFiles(more: readonly string[]): void {
  openedFiles.set([...new Set([...openedFiles.get(), ...more])]);
}

/** Empties the queue and returns its files. */
export function takeFiles(): readonly string[] {
  const taken = openedFiles.get();
  if (taken.length > 0) openedFiles.set([]);
  return taken;
}
