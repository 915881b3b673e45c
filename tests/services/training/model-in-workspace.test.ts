import { join, relative } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, it } from 'vitest';
import { router } from '../../../main/api/router/index.ts';
import { changeSharedSettings } from '../../../main/services/curriculum/shared-settings.ts';
import { checklist } from '../../../main/services/training/checklist.ts';
import { plannedStart } from '../../../main/services/training/planned-start.ts';
import { contextOf, openTinyApp } from '../../api/transports.ts';
import { errorOf } from '../../store/helpers.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

it('finds a model by its path from the workspace, wherever Braid was started', async () => {
  const { store, root, paths, model, config } = await tinyWorkspace();
  const named = plannedStart(store, config({ model: relative(root, model) }), paths);
  expect([named.modelFolder, named.config.model]).toEqual([model, model]);
  expect(plannedStart(store, config({ model: 'tiny' }), paths).config.model).toBe('tiny');
  expect(errorOf(() => plannedStart(store, config({ model: 'models/none' }), paths))).toMatchObject({
    code: 'MODEL_MISSING',
    remedy: expect.stringContaining('download it from the Hugging Face Hub'),
  });
});

it('starts it in the app, which asks for its memory first', async () => {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  const runId = app.live.start(world.config({ model: 'models/tiny-test' }));
  expect(app.store.runs.get(runId)?.model).toBe(world.model);
  app.live.kill(runId);
  await app.live.outcome(runId);
});

it('checks it: the model, and the memory that it takes', async () => {
  const { store, model, paths, config } = await tinyWorkspace();
  const items = await checklist(store, config({ model: 'models/tiny-test' }), paths);
  expect(items).toContainEqual({ name: 'model', state: 'done', detail: model, next: null });
  expect(items.find(({ name }) => name === 'memory')?.detail).toMatch(/^about .* expected/);
});

it('tells the forms of it as the list of models does', async () => {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  const client = createRouterClient(router, { context: contextOf(app) });
  changeSharedSettings(app.store, { preset: 'interleave-tiny', config: { model: 'models/tiny-test' } }, app.paths);
  const { config } = await client.stages.shared();
  const listed = (await client.models.list()).find(({ name }) => name === 'tiny-test');
  expect(config.model).toBe(listed?.model);
  expect(listed?.model).toBe(join(world.root, 'models', 'tiny-test'));
});
