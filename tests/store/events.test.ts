import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addRun } from './helpers.ts';

it('keeps the order in which events of a step happened, although the clock was set back', () => {
  let now = 9_000_000;
  const store = openStore(join(temporaryFolder(), 'braid.db'), { now: () => now });
  onTestFinished(() => store.close());
  const runId = addRun(store);
  const happened = (message: string): void =>
    store.events.record({ runId, step: 5, kind: 'k', severity: 'info', message, remedy: null, data: null });
  for (const message of ['started', 'interrupted', 'resumed', 'started']) {
    happened(message);
    now -= 1_000_000;
  }
  const order = store.events.ofRun(runId).map(({ message }) => message);
  expect(order).toEqual(['interrupted', 'resumed', 'started']);
});
