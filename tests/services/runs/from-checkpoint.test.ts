import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveStart, startArgument } from '../../../main/services/runs/from-checkpoint.ts';
import { isPath } from '../../../main/services/runs/is-path.ts';
import { renameRun } from '../../../main/services/runs/runs.ts';
import { startTraining } from '../../../main/services/training/training.ts';
import { errorOf } from '../../store/helpers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

describe('isPath', () => {
  it.each([
    [['/a', './a', '../a', '.\\a', '..\\a', '.', '..'], true],
    [['a', 'a/b', 'a/../b', '.a', '..a', '...', 'checkpoint-20', ''], false],
  ])('%j: %s', (starts, expected) => {
    expect(starts.map(isPath)).toEqual(starts.map(() => expected));
  });
});

describe('a start', () => {
  it("is the run of that name, not the current directory's folder, which ./NAME means", async () => {
    const { store, paths, config } = await tinyWorkspace();
    const short = config({ method: 'sft', max_steps: 1 });
    const { runId, checkpoint } = await startTraining(store, short, { paths, name: 'base' }).outcome;
    const folder = resolve('main');
    expect(existsSync(folder)).toBe(true);
    expect([resolveStart(store, 'main'), startArgument(store, 'main')]).toEqual([folder, folder]);
    renameRun(store, runId, 'main');
    expect([resolveStart(store, 'main'), startArgument(store, 'main')]).toEqual([checkpoint, 'main']);
    for (const path of ['./main', folder])
      expect([resolveStart(store, path), startArgument(store, path)]).toEqual([folder, folder]);
  });

  it('that is a path is never looked for among the runs', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const name = './no-such-folder';
    await startTraining(store, config({ method: 'sft', max_steps: 1 }), { paths, name }).outcome;
    const error = errorOf(() => resolveStart(store, name));
    expect(error).toMatchObject({ code: 'CHECKPOINT_MISSING', message: expect.not.stringContaining('no run named') });
  });
});
