/** Writes that another process's lock on the database keeps from being done: tried again, without blocking this process. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../store/index.ts';

/** How long a host waits for a program that holds the database before what it has to store counts as lost. */
export const PATIENCE_MS = 60_000;
const EVERY_MS = 100;

/** Resolves once the database can be written, or with false after `patienceMs`. */
export async function whenUnlocked(
  store: Pick<Store, 'isHeld'>,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  for (const end = performance.now() + patienceMs; performance.now() < end; ) {
    if (signal?.aborted === true) return false;
    if (!store.isHeld()) return true;
    await sleep(EVERY_MS, undefined, { ref: false });
  }
  return false;
}
