import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startTraining } from '../../../main/services/training/training.ts';
import { refusedAtFirst } from '../../as-windows.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

/** Renames are refused, as on Windows while a file of the folder is open. */
function refuseRenames(): void {
  const renameSync = vi.spyOn(fs, 'renameSync');
  renameSync.mockImplementation(refusedAtFirst(fs.renameSync, 'EBUSY', Number.POSITIVE_INFINITY));
  syncBuiltinESMExports();
  onTestFinished(() => {
    renameSync.mockRestore();
    syncBuiltinESMExports();
  });
}

describe('startTraining', () => {
  it('keeps a refused run as failed, with the reason, where its folder is in use', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const { runId, outcome } = startTraining(store, config({ max_steps: 1, system_prompt: 'wa wb' }), { paths });
    refuseRenames();
    const error = { code: 'NO_CHAT_TEMPLATE', kind: 'input' };
    expect(await outcome).toMatchObject({ state: 'failed', kept: true, error });
    expect(store.runs.get(runId)).toMatchObject({ state: 'failed', reason: expect.stringContaining('chat template') });
  });
});
