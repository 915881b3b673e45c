import { describe, expect, it } from 'vitest';
import { openTurns } from '../../../main/services/playground/turns.ts';

/** What a promise has come to by now. */
async function settled<T>(promise: Promise<T>): Promise<T | 'waits'> {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve('waits' as const)]);
}

describe('openTurns', () => {
  it('lets models answer at the same time while memory holds them, and others wait', async () => {
    const turns = openTurns(() => 10);
    const [first, second] = [await turns.take(6), turns.take(6)];
    expect(await settled(second)).toBe('waits');
    const third = await turns.take(4);
    first?.end();
    expect(await settled(second)).not.toBe('waits');
    expect(third).not.toBeNull();
  });

  it('counts what a model has filled by what the system says', async () => {
    let free = 10;
    const turns = openTurns(() => free);
    const first = await turns.take(4);
    const second = turns.take(7);
    expect(await settled(second)).toBe('waits');
    first?.filled();
    expect(await settled(second)).not.toBe('waits');
    free = 0;
    expect(await settled(turns.take(1))).toBe('waits');
  });

  it('starts one that fits nowhere when it is alone, and stops waiting when it is cancelled', async () => {
    const turns = openTurns(() => 1);
    await turns.take(100);
    const cancel = new AbortController();
    const waiting = turns.take(1, cancel.signal);
    expect(await settled(waiting)).toBe('waits');
    cancel.abort();
    expect(await waiting).toBeNull();
  });
});
