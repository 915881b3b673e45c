import { describe, expect, it } from 'vitest';
import { checkConfigPaths, checkStart } from '../../main/api/config-paths.ts';
import { openPathAccess } from '../../main/api/path-access.ts';
import { startTraining } from '../../main/services/training.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';

describe('checkConfigPaths', () => {
  it("keeps every file of a page's configuration to what it may read", async () => {
    const world = await tinyWorkspace();
    const access = openPathAccess(world.root, [world.root]);
    const check = (changes: object) => () => checkConfigPaths(world.config(changes), access, world);
    expect(check({})).not.toThrow();
    for (const field of ['model', 'dataset', 'eval_dataset', 'from_checkpoint', 'relevance_model'])
      expect(check({ [field]: '/etc/passwd' }), field).toThrow('Expected a path inside');
  });

  it('lets a checkpoint be named by its run, and nothing else', async () => {
    const { store, paths, config, root } = await tinyWorkspace();
    const access = openPathAccess(root, [root]);
    await startTraining(store, config({ method: 'sft', max_steps: 1 }), { paths, name: 'base/seed_1' }).outcome;
    expect(() => checkStart('base/seed_1', access, store)).not.toThrow();
    expect(() => checkStart('../base/seed_1', access, store)).toThrow('Expected a path inside');
  });
});
