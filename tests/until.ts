import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, half a minute at most, until something has come about. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await condition()); waited += 20) {
    if (waited > 30_000) throw new Error('Waited 30 s in vain');
    await sleep(20);
  }
}
