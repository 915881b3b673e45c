import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkConfigPaths } from '../../main/api/config-paths.ts';
import { sweepControlTools } from '../../main/api/mcp/sweep-tools.ts';
import { openPathAccess } from '../../main/api/path-access.ts';
import { newRunConfig } from '../../main/api/run-control.ts';
import { rememberImported } from '../../main/services/models/imported-folders.ts';
import { renameRun } from '../../main/services/runs/runs.ts';
import { startTraining } from '../../main/services/training/training.ts';
import { configFields, fieldMeta, trainConfigSchema } from '../../main/trainer/config/config.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { temporaryFolder } from '../temporary-folder.ts';
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
    expect(texts.filter((field) => !['system_prompt', 'project'].includes(field))).toEqual(PATHS);
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

  it('finds a model of the workspace by the name that the list of models shows', async () => {
    const { store, paths, root } = await tinyWorkspace();
    const folder = join(root, 'models', 'mine');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{}');
    const check = (model: string) => checkConfigPaths({ model }, openPathAccess(root, [root]), { store, paths }).model;
    expect(check('mine')).toBe(folder);
    expect(check('models/mine')).toBe(folder);
    mkdirSync(join(root, 'mine'));
    expect(check('mine')).toBe(join(root, 'mine'));
  });

  it('takes relative paths from the workspace, wherever the process was started', async () => {
    const { store, paths, root } = await tinyWorkspace();
    const access = openPathAccess(root, [root]);
    // It exists in the folder of this process, which differs from the workspace.
    const here = './package.json';
    expect([existsSync(here), process.cwd() === root]).toEqual([true, false]);
    for (const field of PATHS) {
      const checked = checkConfigPaths({ [field]: here, seed: 7 }, access, { store, paths });
      expect(checked, field).toEqual({ [field]: join(root, 'package.json'), seed: 7 });
      // What an earlier version has stored relative doesn't stay so.
      expect(checkConfigPaths({ [field]: here }, access, { store, paths }, { [field]: here }), field).toEqual({
        [field]: join(root, 'package.json'),
      });
    }
    const missing = { model: 'models/later', dataset: join(root, 'a.jsonl'), eval_dataset: null };
    expect(checkConfigPaths(missing, access, { store, paths })).toEqual({
      ...missing,
      model: join(root, 'models/later'),
    });
  });

  it('keeps names, and never lets the name of a run stand for a folder where the process was started', async () => {
    const { store, paths, config, root } = await tinyWorkspace();
    const access = openPathAccess(root, [root]);
    const check = (fields: object) => checkConfigPaths({ ...fields }, access, { store, paths });
    const names = { model: 'tiny', task: 'countdown', from_checkpoint: 'still/to_come' };
    expect(check(names)).toEqual(names);
    const run = { paths, name: 'base/seed_1' };
    const { checkpoint, runId } = await startTraining(store, config({ method: 'sft', max_steps: 1 }), run).outcome;
    expect(check({ from_checkpoint: 'base/seed_1' })).toEqual({ from_checkpoint: 'base/seed_1' });
    // Pages name runs as they like: one name is a folder of this process, the other one of the machine.
    renameRun(store, runId, 'main');
    expect(check({ from_checkpoint: 'main' })).toEqual({ from_checkpoint: checkpoint });
    for (const name of ['/etc', './main', '../main', '..']) {
      renameRun(store, runId, name);
      if (name === './main') expect(check({ from_checkpoint: name })).toEqual({ from_checkpoint: join(root, 'main') });
      else expect(() => check({ from_checkpoint: name }), name).toThrow('Expected a path inside');
    }
  });

  it('reaches stages, sweeps and runs of pages and agents', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const context = contextOf(app);
    const { client } = await overPorts(context);
    const { store } = app;
    const relative = { model: 'models/tiny-test', dataset: 'datasets/2words.jsonl', logging_dir: 'events' };
    const absolute = { model: world.model, dataset: world.dataset, logging_dir: join(world.root, 'events') };
    expect(newRunConfig(app, context.access, { preset: 'interleave-tiny', config: relative })).toMatchObject(absolute);
    const { stageId } = await client.stages.add({ config: relative });
    await client.stages.change({ stageId, config: { ...relative, seed: 7 } });
    expect(store.stages.get(stageId)?.config).toEqual({ ...absolute, seed: 7 });
    await client.stages.changeShared({ preset: 'interleave-tiny', config: { model: 'models/tiny-test' } });
    expect((await client.stages.shared()).config.model).toBe(world.model);
    await client.settings.set({ run_queue: false });
    const config = world.config({ ...relative, method: 'sft', max_steps: 2 });
    const { sweepId } = await client.sweeps.start({ config, plan: { name: 'page' } });
    const place = { store, paths: app.paths, live: app.live, sweeps: app.queue.sweeps, report: () => undefined };
    const tools = sweepControlTools(place, context.access);
    const call = (name: string, args: object) => tools.find((tool) => tool.name === name)?.call(args);
    const queued = call('start_sweep', { config, plan: { name: 'agent' }, queue: true });
    for (const id of [sweepId, (queued as { readonly sweep_id: number }).sweep_id])
      expect(store.sweeps.trials(id)[0]?.config).toMatchObject(absolute);
    call('queue_run', { config });
    expect(store.queue.getRun(1)?.config).toMatchObject(absolute);
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
