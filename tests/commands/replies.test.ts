import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../main/model/model.ts';
import { readMemory } from '../../main/services/replies/memory.ts';
import { openStore } from '../../main/store/index.ts';
import { replyLines } from '../services/reply-lines.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

describe('braid replies', () => {
  it('runs completely on a given model and replies', async () => {
    const folder = temporaryFolder();
    const model = join(folder, 'own');
    disposeModel(await writeTinyModel(model));
    mkdirSync(join(folder, 'ws'));
    const dataset = join(folder, 'mine.jsonl');
    const lines = replyLines(40).split('\n');
    writeFileSync(dataset, lines.slice(0, 32).join('\n'));
    writeFileSync(join(folder, 'mine.test.jsonl'), lines.slice(32).join('\n'));
    const args = [
      '--workspace',
      join(folder, 'ws'),
      '--model',
      model,
      '--dataset',
      dataset,
      '--threads',
      '1',
      '--steps',
      '20',
    ];
    const run = await braid(['replies', ...args, '--json']);
    expect(run.code, run.stderr).toBe(0);
    const { runs, comparison } = JSON.parse(run.stdout);
    expect(runs.map(({ state }: { state: string }) => state)).toEqual(Array(4).fill('done'));
    expect(comparison).toMatchObject({ prompts: 8, samples: 10 });
    // The app finds the report.
    const store = openStore(join(folder, 'ws', 'braid.db'));
    expect(readMemory(store).report).toMatchObject({ folder: join('outputs', 'replies-seed42') });
    store.close();
  }, 240_000);

  it('rejects replies without a held-out file', async () => {
    const dataset = join(temporaryFolder(), 'alone.jsonl');
    writeFileSync(dataset, replyLines(10));
    const run = await braid(['replies', '--dataset', dataset, '--workspace', temporaryFolder()]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('alone.test.jsonl: expected held-out') });
  });
});
