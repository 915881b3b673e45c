import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, half a minute at most unless told otherwise, until something has come about. */
export async function until(condition: () => boolean | Promise<boolean>, mostMs = 30_000): Promise<void> {
  for (let waited = 0; !(await condition()); waited += 20) {
    if (waited > mostMs) throw new Error(`Waited ${mostMs / 1000} s in vain`);
    await sleep(20);
  }
}
