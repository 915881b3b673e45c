import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { dropOldCheckpoints } from '../../../main/services/runs/old-checkpoints.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const ALL: readonly number[] = [2, 4, 8, 10];
const known = new Set(ALL);

describe('dropOldCheckpoints', () => {
  it.each<[string, number, number | null, string[], (readonly number[])?, (readonly number[])?, (readonly number[])?]>([
    ['the newest are kept', 10, 2, ['checkpoint-10', 'checkpoint-8']],
    ['all are kept', 10, null, ['checkpoint-10', 'checkpoint-2', 'checkpoint-4', 'checkpoint-8']],
    ['later ones do not count', 4, 1, ['checkpoint-10', 'checkpoint-4', 'checkpoint-8']],
    [
      'none from before a rewind counts, also once it is passed',
      10,
      2,
      ['checkpoint-10', 'checkpoint-4', 'checkpoint-9'],
      [2, 4, 10],
      [2, 4, 9, 10],
    ],
    [
      'those that nothing refers to go once they are passed',
      10,
      2,
      ['checkpoint-10', 'checkpoint-12', 'checkpoint-4', 'checkpoint-9'],
      [4, 10],
      [4, 5, 9, 10, 12],
      [5, 12],
    ],
  ])('%s', async (_, step, limit, kept, known = ALL, there = ALL, gone = []) => {
    const folder = temporaryFolder();
    for (const saved of there) mkdirSync(join(folder, `checkpoint-${saved}`));
    await dropOldCheckpoints(folder, step, limit, { known: new Set(known), abandoned: new Set(gone) });
    expect(readdirSync(folder).sort()).toEqual(kept);
  });

  it('keeps those that other runs start from beside the newest', async () => {
    const folder = temporaryFolder();
    for (const saved of ALL) mkdirSync(join(folder, `checkpoint-${saved}`));
    await dropOldCheckpoints(folder, 10, 1, { known, started: new Set([4]) });
    expect(readdirSync(folder).sort()).toEqual(['checkpoint-10', 'checkpoint-4']);
  });

  it.each([
    ['the best beside the newest', 2, { 2: 0.5, 4: 0.9, 8: 0.7, 10: 0.6 }, [10, 4]],
    ['the later of equals', 2, { 2: 0.9, 4: 0.9, 8: 0.7, 10: 0.6 }, [10, 4]],
    ['the newest, even at a limit of one', 1, { 2: 0.9, 4: 0.8 }, [10, 2]],
    ['no more where the best is among the newest', 2, { 4: 0.5, 8: 0.9, 10: 0.6 }, [10, 8]],
    ['the newest where scores are of other steps', 2, { 3: 0.9 }, [10, 8]],
  ])('keeps %s', async (_, limit, scores, kept) => {
    const folder = temporaryFolder();
    for (const saved of ALL) mkdirSync(join(folder, `checkpoint-${saved}`));
    const byStep = new Map(Object.entries(scores).map(([at, mean]) => [Number(at), mean]));
    await dropOldCheckpoints(folder, 10, limit, { known, scores: byStep });
    expect(readdirSync(folder).sort()).toEqual(kept.map((at) => `checkpoint-${at}`));
  });

  it('hides a checkpoint before it deletes it: whenever it is killed, no list shows half of one', async () => {
    const folder = temporaryFolder();
    for (const saved of [2, 4]) mkdirSync(join(folder, `checkpoint-${saved}`));
    writeFileSync(join(folder, 'checkpoint-2', 'rng.json'), '{}');
    const rm = vi.spyOn(fs, 'rm').mockRejectedValue(new Error('killed here'));
    syncBuiltinESMExports();
    await dropOldCheckpoints(folder, 4, 1, { known });
    rm.mockRestore();
    syncBuiltinESMExports();
    expect(readdirSync(folder).filter((name) => !name.startsWith('.'))).toEqual(['checkpoint-4']);
  });

  it('leaves a folder that is gone to the next save', async () => {
    await expect(dropOldCheckpoints(join(temporaryFolder(), 'gone'), 10, 1, { known })).resolves.toBeUndefined();
  });
});
