import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dropOldCheckpoints } from '../../../main/services/runs/old-checkpoints.ts';
import { temporaryFolder } from '../../store/helpers.ts';

describe('dropOldCheckpoints', () => {
  it.each([
    ['the newest are kept', 10, 2, ['checkpoint-10', 'checkpoint-8']],
    ['all are kept', 10, null, ['checkpoint-10', 'checkpoint-2', 'checkpoint-4', 'checkpoint-8']],
    ['later ones, from before a rewind, do not count', 4, 1, ['checkpoint-10', 'checkpoint-4', 'checkpoint-8']],
  ])('%s', async (_, step, limit, kept) => {
    const folder = temporaryFolder();
    for (const saved of [2, 4, 8, 10]) mkdirSync(join(folder, `checkpoint-${saved}`));
    await dropOldCheckpoints(folder, step, limit);
    expect(readdirSync(folder).sort()).toEqual(kept);
  });

  it('leaves a folder that is gone to the next save', async () => {
    await expect(dropOldCheckpoints(join(temporaryFolder(), 'gone'), 10, 1)).resolves.toBeUndefined();
  });
});
