import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('keeps the order of queueing although the clock is set back meanwhile', () => {
  let time = 9_000_000;
  const store = openStore(join(temporaryFolder(), 'braid.db'), { now: () => (time -= 1_000_000) });
  onTestFinished(() => store.close());
  const { queue, stages, sweeps } = store;
  const stage = { name: 'stage', datasetId: null, position: 1, words: 2, steps: 1, promotion: null, config: {} };
  const add = {
    first: () => queue.addRun('first', {}),
    second: () => stages.setState(stages.add({ ...stage, name: 'second' }), 'queued'),
    third: () => sweeps.enqueue(sweeps.add('third', {}, [])),
    fourth: () => queue.addRun('fourth', {}),
  };
  for (const queueOne of Object.values(add)) queueOne();
  expect(queue.list().map(({ name }) => name)).toEqual(Object.keys(add));
});
