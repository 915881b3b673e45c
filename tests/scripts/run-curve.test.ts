import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordEvents } from '../../main/services/runs/events.ts';
import { createRun, finishRun, interruptRun } from '../../main/services/runs/runs.ts';
import { checkpointToResume, runCurve } from '../../scripts/checks/run-curve.ts';
import { config, eventsOf } from '../services/runs/run-events.ts';
import { temporaryStore } from '../store/helpers.ts';

it('continues the newest unfinished run of a name from its last checkpoint, and none that is done', () => {
  const store = temporaryStore();
  expect(checkpointToResume(join(store.folder, 'none'), 'words', 42)).toBeNull();
  const { runId, folder } = createRun(store, config, { name: 'words/seed_42' });
  recordEvents(store, runId, eventsOf(folder, 1, 6));
  mkdirSync(join(folder, 'checkpoint-4'));
  interruptRun(store, runId, 'the machine went off');
  expect(checkpointToResume(store.folder, 'words', 42)).toBe(join(folder, 'checkpoint-4'));
  expect(checkpointToResume(store.folder, 'words', 43)).toBeNull();
  finishRun(store, runId, 'done');
  expect(checkpointToResume(store.folder, 'words', 42)).toBeNull();
  const points = [3, 6].map((step) => ({ step, mean: 0.75 }));
  expect(runCurve(store.folder, runId)).toMatchObject({ steps: 6, points });
});
