import { relative } from 'node:path';
import { expect, it } from 'vitest';
import { plannedStart } from '../../../main/services/training/training.ts';
import { errorOf } from '../../store/helpers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

it('finds a model by its path from the workspace, wherever Braid was started', async () => {
  const { store, root, paths, model, config } = await tinyWorkspace();
  const named = plannedStart(store, config({ model: relative(root, model) }), paths);
  expect([named.modelFolder, named.config.model]).toEqual([model, model]);
  expect(plannedStart(store, config({ model: 'tiny' }), paths).config.model).toBe('tiny');
  expect(errorOf(() => plannedStart(store, config({ model: 'models/none' }), paths))).toMatchObject({
    code: 'MODEL_MISSING',
  });
});
