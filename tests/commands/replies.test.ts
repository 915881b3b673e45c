import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../main/model/model.ts';
import { readReplyState } from '../../main/services/replies/stored-state.ts';
import { openStore } from '../../main/store/index.ts';
import { replyLines } from '../services/reply-lines.ts';
import { temporaryFolder } from '../temporary-folder.ts';
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
    expect(readReplyState(store).report).toMatchObject({ folder: join('outputs', 'replies-seed42') });
    // The records of somebody else's file aren't the app's.
    expect(readReplyState(store).split).toBeNull();
    store.close();
  }, 240_000);

  it('keeps the split of the bundled replies for the app, and says that it keeps none of other records', async () => {
    // A missing model ends it before any run.
    const [workspace, other] = [temporaryFolder(), temporaryFolder()];
    const ended = (folder: string, ...args: string[]) =>
      braid(['replies', '--workspace', folder, '--model', join(folder, 'none'), ...args]);
    const bundled = await ended(workspace);
    expect(bundled.code, bundled.stderr).toBe(2);
    expect(bundled.stdout).not.toContain('own records');
    const dataset = join(other, 'mine.jsonl');
    for (const name of ['mine.jsonl', 'mine.test.jsonl']) writeFileSync(join(other, name), replyLines(20));
    expect((await ended(other, '--dataset', dataset)).stdout).toContain('Replies page keeps its own records');
    const splits = [workspace, other].map((folder) => {
      const store = openStore(join(folder, 'braid.db'));
      const { split } = readReplyState(store);
      store.close();
      return [split?.seed, existsSync(join(folder, 'datasets', 'train_phase2_grpo.jsonl'))];
    });
    expect(splits).toEqual([
      [42, true],
      [undefined, false],
    ]);
  }, 60_000);

  it('rejects replies without a held-out file', async () => {
    const dataset = join(temporaryFolder(), 'alone.jsonl');
    writeFileSync(dataset, replyLines(10));
    const run = await braid(['replies', '--dataset', dataset, '--workspace', temporaryFolder()]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('alone.test.jsonl: expected held-out') });
  });
});
