import { describe, expect, it } from 'vitest';
import { startTraining } from '../../main/services/training/training.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { checkpointDigests } from '../trainer/run/tiny-run.ts';

describe('a run that does not fit the memory', () => {
  it('fails with OUT_OF_MEMORY and its remedy, and the checkpoint that it started from is as it was', async () => {
    const { store, paths, config } = await tinyWorkspace({
      maxPositionEmbeddings: 2_000_000,
      numHeads: 64,
      numKvHeads: 64,
    });
    const first = await startTraining(store, config({ max_steps: 2 }), { paths }).outcome;
    const before = checkpointDigests(first.checkpoint ?? '', true);
    // The keys of a single completion are more than one tensor may hold, so that fewer at a time don't help.
    const huge = {
      from_checkpoint: first.checkpoint,
      max_completion_length: 1_100_000,
    };
    const second = await startTraining(store, config(huge), { paths }).outcome;
    expect(second).toMatchObject({
      state: 'failed',
      step: 0,
      kept: true,
      error: { code: 'OUT_OF_MEMORY', kind: 'runtime', remedy: expect.stringContaining('per_device_train_batch_size') },
    });
    expect(store.runs.get(second.runId)).toMatchObject({ state: 'failed', parentRunId: first.runId });
    expect(store.events.ofRun(second.runId).at(-1)).toMatchObject({ kind: 'failed', severity: 'error' });
    expect(checkpointDigests(first.checkpoint ?? '', true)).toEqual(before);
  });
});
