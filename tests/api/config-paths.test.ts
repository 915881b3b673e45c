import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkConfigPaths } from '../../main/api/config-paths.ts';
import { openPathAccess } from '../../main/api/path-access.ts';
import { rememberImported } from '../../main/services/models/imported.ts';
import { startTraining } from '../../main/services/training/training.ts';
import { configFields, fieldMeta, trainConfigSchema } from '../../main/trainer/config.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { temporaryFolder } from '../store/helpers.ts';
import { contextOf, openTinyApp, overPorts } from './transports.ts';

const PATHS = ['task', 'model', 'from_checkpoint', 'dataset', 'eval_dataset', 'relevance_model', 'logging_dir'];

describe('checkConfigPaths', () => {
  it("limits every file of a page's configuration to what it may read", async () => {
    const world = await tinyWorkspace();
    const access = openPathAccess(world.root, [world.root]);
    const check = (changes: object) => () => checkConfigPaths(world.config(changes), access, world);
    expect(check({})).not.toThrow();
    for (const field of PATHS) expect(check({ [field]: '/etc/passwd' }), field).toThrow('Expected a path inside');
  });

  it('knows of each field that names a file', () => {
    // Every field that takes any text names a file: a new one has to say so, or otherwise.
    const texts = configFields.filter((field) => trainConfigSchema.shape[field].safeParse('any text').success);
    expect(texts.filter((field) => field !== 'system_prompt')).toEqual(PATHS);
    expect(configFields.filter((field) => fieldMeta(field).path === true)).toEqual(PATHS);
  });

  it('lets a checkpoint be named by its run, an imported model by its folder, and nothing else', async () => {
    const { store, paths, config, root } = await tinyWorkspace();
    const access = openPathAccess(root, [root]);
    await startTraining(store, config({ method: 'sft', max_steps: 1 }), { paths, name: 'base/seed_1' }).outcome;
    const check = (fields: object) => () => checkConfigPaths({ ...fields }, access, { store, paths });
    expect(check({ from_checkpoint: 'base/seed_1' })).not.toThrow();
    expect(check({ from_checkpoint: '../base/seed_1' })).toThrow('Expected a path inside');
    const model = join(temporaryFolder(), 'model');
    mkdirSync(model);
    expect(check({ model })).toThrow('Expected a path inside');
    rememberImported(store, model);
    expect(check({ model })).not.toThrow();
    expect(check({ dataset: model })).toThrow('Expected a path inside');
    // An unknown name is no path: whoever looks for the task suggests another.
    for (const task of ['reply', 'countdown', 'countdwn']) expect(check({ task }), task).not.toThrow();
    expect(check({ task: '/etc/countdown' })).toThrow('Expected a path inside');
  });

  it('holds stages to the same rule, and lets them keep what they have', async () => {
    const app = openTinyApp(await tinyWorkspace());
    const context = contextOf(app);
    const { client } = await overPorts(context);
    for (const field of PATHS) {
      const refused = { code: 'REFUSED', data: { code: 'PATH_OUTSIDE' } };
      await expect(client.stages.add({ config: { [field]: '/etc' } }), field).rejects.toMatchObject(refused);
      const shown = client.stages.config({ stageId: null, config: { [field]: '/etc' } });
      await expect(shown, field).rejects.toMatchObject(refused);
    }
    const elsewhere = temporaryFolder();
    context.access.allow(elsewhere);
    const { stageId } = await client.stages.add({ config: { relevance_model: elsewhere } });
    // After a restart the person's choice in the dialog is forgotten, the stage is not.
    const { client: later } = await overPorts(contextOf(app));
    await later.stages.change({ stageId, name: 'Renamed', config: { relevance_model: elsewhere, seed: 7 } });
    await expect(later.stages.change({ stageId, config: { eval_dataset: elsewhere } })).rejects.toMatchObject({
      data: { code: 'PATH_OUTSIDE' },
    });
    expect(app.store.stages.get(stageId)?.config).toEqual({ relevance_model: elsewhere, seed: 7 });
  });
});
