import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openChanges } from '../../../main/services/workspace/changes.ts';

describe('changes', () => {
  it('gathers what happens while the reader is busy, each change once', async () => {
    const changes = openChanges();
    const batches = changes.batches(10);
    // Before the first look: not lost.
    changes.publish('runs');
    changes.publish('run', 7);
    changes.publish('run', 7);
    expect((await batches.next()).value).toEqual([
      { topic: 'runs', id: null },
      { topic: 'run', id: 7 },
    ]);
    changes.publish('run', 8);
    changes.publish('texts');
    expect((await batches.next()).value).toHaveLength(2);
    await batches.return(undefined);
    expect(changes.listeners()).toBe(0);
  });

  it('gives at most one batch in the interval', async () => {
    const changes = openChanges();
    const batches = changes.batches(60);
    const began = performance.now();
    for (let i = 0; i < 4; i++) {
      changes.publish('runs');
      await batches.next();
    }
    expect(performance.now() - began).toBeGreaterThan(170);
    await batches.return(undefined);
  });

  it('ends at the abort, waiting or pausing', async () => {
    const changes = openChanges();
    const controller = new AbortController();
    const batches = changes.batches(10_000, controller.signal);
    changes.publish('runs');
    await batches.next();
    const waiting = batches.next();
    await sleep(10);
    controller.abort();
    expect((await waiting).done).toBe(true);
    expect(changes.listeners()).toBe(0);
  });
});
