import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { abandonedCheckpoints, checkpointsStartedFrom } from '../../../main/services/runs/abandoned-checkpoints.ts';
import { discardAfter, recordEvents } from '../../../main/services/runs/events.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { checkpointReference } from '../../../main/store/checkpoints.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { config } from './run-events.ts';

describe('abandonedCheckpoints', () => {
  it('are those of the line before a resume that nothing refers to, until they are saved again', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    const path = (step: number): string => join(folder, `checkpoint-${step}`);
    const save = (step: number) => recordEvents(store, runId, [{ kind: 'checkpoint', step, path: path(step) }]);
    for (const step of [1, 2, 3, 4, 5, 6]) save(step);
    expect(abandonedCheckpoints(store, runId)).toEqual(new Set());
    createRun(store, { ...config, from_checkpoint: path(2) });
    const third = store.checkpoints.ofRun(runId).find(({ step }) => step === 3);
    const promptSet = store.promptSets.keep({ task: 'interleave', hash: 'h', datasets: [], seed: 1, records: [] });
    store.comparisons.add(promptSet, [{ reference: checkpointReference(third?.id ?? 0), name: 'third' }]);
    store.queue.addRun('next', { ...config, from_checkpoint: path(4) });
    expect(checkpointsStartedFrom(store, runId)).toEqual(new Set([2, 4]));
    discardAfter(store, runId, 1);
    expect(abandonedCheckpoints(store, runId)).toEqual(new Set([5, 6]));
    save(6);
    expect(abandonedCheckpoints(store, runId)).toEqual(new Set([5]));
  });
});
