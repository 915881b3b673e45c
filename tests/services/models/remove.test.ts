import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { rememberImported } from '../../../main/services/models/imported-folders.ts';
import { listModels } from '../../../main/services/models/list.ts';
import { modelDependants, removeModel } from '../../../main/services/models/remove.ts';
import { addRun } from '../../store/helpers.ts';
import { writeTinyAdapter, writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from './places.ts';

async function withRun() {
  const host = modelHost();
  const { store } = host;
  const folder = join(host.workspace.models, 'own');
  const model = await writeTinyModel(folder);
  const parent = addRun(store, { name: 'parent', model: folder });
  store.runs.place(parent, 'parent', 'outputs/parent');
  const place = join(host.root, 'outputs/parent/checkpoint-5');
  writeTinyAdapter(place, model, folder);
  disposeModel(model);
  const checkpoint = store.checkpoints.record(parent, 5, 'outputs/parent/checkpoint-5', 'final');
  store.runs.setState(parent, 'done', null);
  const stage = { datasetId: null, position: 1, words: 10, steps: 5, promotion: null };
  return { host, folder, place, parent, checkpoint, stage };
}

describe('modelDependants', () => {
  it('names the runs, stages and checkpoints that depend on a model', async () => {
    const { host, folder, parent, stage } = await withRun();
    host.store.stages.add({ ...stage, name: 'next', config: { model: folder } });
    host.store.stages.add({ ...stage, name: 'other', config: { model: 'tiny' } });
    const found = await modelDependants(host, 'workspace:own');
    expect(found).toMatchObject({
      refusal: null,
      runs: [{ id: parent, name: 'parent' }],
      stages: [{ name: 'next', chosen: true }],
      checkpoints: ['parent · step 5'],
    });
    expect(found.bytes).toBeGreaterThan(1000);
  });

  it('names the runs that descend from a checkpoint, and the stages that start from it', async () => {
    const { host, checkpoint, place, stage } = await withRun();
    const child = addRun(host.store, { name: 'child', parentCheckpointId: checkpoint });
    host.store.runs.place(child, 'child', 'outputs/child');
    host.store.stages.add({ ...stage, name: 'from it', config: { from_checkpoint: place } });
    expect(await modelDependants(host, `checkpoint:${checkpoint}`)).toMatchObject({
      runs: [{ id: child, name: 'child' }],
      stages: [{ name: 'from it' }],
      checkpoints: [],
    });
  });

  it('names a planned stage that starts from it as the next of the curriculum', async () => {
    const { host, folder, place, checkpoint, stage } = await withRun();
    host.store.stages.add({ ...stage, name: '25 words', config: {} });
    const following = { ...host, startOf: () => ({ model: 'tiny', from_checkpoint: place }) };
    const stages = [{ name: '25 words', chosen: false }];
    expect(await modelDependants(following, `checkpoint:${checkpoint}`)).toMatchObject({ stages });
    expect((await modelDependants(following, 'workspace:own')).entry.folder).toBe(folder);
    expect(await modelDependants(following, 'workspace:own')).toMatchObject({ stages });
  });

  it('names what waits to start from it, in the queue or paused', async () => {
    const { host, folder, checkpoint } = await withRun();
    const { queue, sweeps } = host.store;
    queue.addRun('by folder', { model: folder, from_checkpoint: null });
    queue.addRun('by name', { model: 'tiny', from_checkpoint: 'parent' });
    queue.addRun('other', { model: 'tiny', from_checkpoint: null });
    const trial = { setting: 0, seed: 42, name: 'rates', config: { model: folder }, after: null };
    sweeps.enqueue(sweeps.add('rates', {}, [trial]));
    sweeps.add('paused', {}, [trial]);
    const waiting = [
      { kind: 'run', name: 'by folder' },
      { kind: 'run', name: 'by name' },
      { kind: 'sweep', name: 'paused' },
      { kind: 'sweep', name: 'rates' },
    ];
    expect((await modelDependants(host, 'workspace:own')).waiting).toEqual(waiting);
    expect((await modelDependants(host, `checkpoint:${checkpoint}`)).waiting).toEqual([waiting[1]]);
  });

  it('names the run that could not be resumed without its last checkpoint', async () => {
    const { host, checkpoint, parent } = await withRun();
    host.store.runs.setState(parent, 'stopped', null);
    expect((await modelDependants(host, `checkpoint:${checkpoint}`)).runs).toEqual([{ id: parent, name: 'parent' }]);
  });
});

describe('removeModel', () => {
  it('deletes a model of the workspace', async () => {
    const { host, folder } = await withRun();
    await removeModel(host, 'workspace:own');
    expect(existsSync(folder)).toBe(false);
    expect(listModels(host).map(({ ref }) => ref)).not.toContain('workspace:own');
    // Its adapters are still there, and can't be used.
    expect(listModels(host).find(({ kind }) => kind === 'checkpoint')).toMatchObject({
      deleted: false,
      problem: expect.stringContaining("doesn't exist"),
    });
  });

  it('refuses checkpoints that lie anywhere but in the folder of a run', async () => {
    const { host, parent } = await withRun();
    const thesis = join(host.root, 'thesis');
    const linked = join(host.root, 'outputs', 'linked');
    mkdirSync(join(thesis, 'checkpoint-7'), { recursive: true });
    symlinkSync(thesis, linked);
    for (const [step, path] of ['thesis', thesis, 'outputs/parent', 'outputs/linked/checkpoint-7'].entries()) {
      const id = host.store.checkpoints.record(parent, 10 + step, path, 'periodic');
      await expect(removeModel(host, `checkpoint:${id}`)).rejects.toMatchObject({
        code: 'MODEL_IN_USE',
        message: expect.stringContaining('not a checkpoint folder of this workspace'),
      });
    }
    expect(existsSync(join(thesis, 'checkpoint-7'))).toBe(true);
  });

  it('deletes a checkpoint, and marks it so', async () => {
    const { host, place, checkpoint } = await withRun();
    await removeModel(host, `checkpoint:${checkpoint}`);
    expect(existsSync(place)).toBe(false);
    expect(host.store.checkpoints.get(checkpoint)?.deletedAt).not.toBeNull();
    await expect(removeModel(host, `checkpoint:${checkpoint}`)).rejects.toMatchObject({ code: 'MODEL_IN_USE' });
  });

  it('only forgets an imported folder', async () => {
    const host = modelHost();
    const folder = join(host.root, 'elsewhere');
    mkdirSync(folder);
    rememberImported(host.store, folder);
    await removeModel(host, `folder:${folder}`);
    expect(existsSync(folder)).toBe(true);
    expect(listModels(host).every(({ kind }) => kind === 'bundled')).toBe(true);
  });

  it('rejects the bundled model, and one that a live run trains with', async () => {
    const { host, folder, parent } = await withRun();
    await expect(removeModel(host, 'bundled:tiny')).rejects.toMatchObject({ message: expect.stringContaining('demo') });
    const busy = { ...host, live: { get: (id: number) => (id === parent ? {} : null) } as never };
    await expect(removeModel(busy, 'workspace:own')).rejects.toMatchObject({
      message: expect.stringContaining('parent is training with it'),
    });
    // In another process, such as a command in a terminal.
    const child = addRun(host.store, { name: 'child', model: folder });
    await expect(removeModel(host, 'workspace:own')).rejects.toMatchObject({
      message: expect.stringContaining('child is training with it'),
    });
    host.store.runs.setState(child, 'interrupted', null);
    await removeModel(host, 'workspace:own');
    expect(existsSync(folder)).toBe(false);
    await expect(removeModel(host, 'workspace:none')).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
  });
});
