import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { forgetImported, importedModels, rememberImported } from '../../../main/services/models/imported-folders.ts';
import { listModels, requireModel } from '../../../main/services/models/list.ts';
import { evaluationDataset } from '../../../main/services/runs/evaluation.ts';
import { discardAfter } from '../../../main/services/runs/events.ts';
import { locateWorkspace } from '../../../main/services/workspace/workspace.ts';
import { addRun, errorOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';
import { writeTinyAdapter, writeTinyModel } from '../../tiny-model.ts';

let tiny = '';

beforeAll(async () => {
  tiny = join(temporaryFolderOfFile(), 'tiny');
  disposeModel(await writeTinyModel(tiny));
});

function place() {
  const root = temporaryFolder();
  const workspace = locateWorkspace({ workspace: root });
  mkdirSync(workspace.models);
  return { store: temporaryStore(root), workspace, paths: { resources: join(tiny, '../resources') } };
}

describe('listModels', () => {
  it('lists models of the workspace, imported folders and checkpoints, each by a reference of its own', async () => {
    const at = place();
    disposeModel(await writeTinyModel(join(at.workspace.models, 'mine')));
    rememberImported(at.store, tiny);
    rememberImported(at.store, tiny);
    const run = addRun(at.store, { name: 'run-1' });
    at.store.runs.place(run, 'run-1', 'outputs/run-1');
    disposeModel(await writeTinyModel(join(at.workspace.root, 'outputs/run-1/checkpoint-20')));
    const checkpoint = at.store.checkpoints.record(run, 20, 'outputs/run-1/checkpoint-20', 'final');

    const entries = listModels(at);

    expect(entries.map(({ ref, name, problem }) => [ref, name, problem])).toEqual([
      ['workspace:mine', 'mine', null],
      [`folder:${tiny}`, 'tiny', null],
      [`checkpoint:${checkpoint}`, 'run-1 · step 20', null],
    ]);
    expect(entries.at(-1)).toMatchObject({
      kind: 'checkpoint',
      step: 20,
      checkpointKind: 'final',
      deleted: false,
      run: { id: run, name: 'run-1' },
      model: join(at.workspace.root, 'outputs/run-1/checkpoint-20'),
    });
    for (const entry of entries) expect(requireModel(at, entry.ref)).toEqual(entry);
  });

  it('marks checkpoints of which a part was removed', async () => {
    const at = place();
    const folder = join(at.workspace.root, 'outputs/run-1/checkpoint-20');
    disposeModel(await writeTinyModel(folder));
    at.store.checkpoints.record(addRun(at.store, { name: 'run-1' }), 20, 'outputs/run-1/checkpoint-20', 'final');
    const problem = () => listModels(at).at(-1)?.problem;
    writeFileSync(join(folder, 'checksums.sha256'), `${'0'.repeat(64)}  model.safetensors\n`);
    expect(problem()).toBeNull();
    rmSync(join(folder, 'model.safetensors'));
    expect(problem()).toBe(`${folder} is no longer whole: model.safetensors is missing`);
    rmSync(join(folder, 'checksums.sha256'));
    expect(problem()).toBe(`${folder} is no longer whole: a file of weights is missing`);
  });

  it('marks the adapters whose base model was deleted', async () => {
    const at = place();
    const base = join(at.workspace.models, 'mine');
    const model = await writeTinyModel(base);
    const run = addRun(at.store, { name: 'run-1' });
    writeTinyAdapter(join(at.workspace.root, 'outputs/run-1/checkpoint-20'), model, base);
    disposeModel(model);
    at.store.checkpoints.record(run, 20, 'outputs/run-1/checkpoint-20', 'final');
    const problem = () => listModels(at).find(({ kind }) => kind === 'checkpoint')?.problem;
    expect(problem()).toBeNull();
    rmSync(base, { recursive: true });
    expect(problem()).toContain(`the base model "${base}" doesn't exist`);
  });

  it('calls a bundled model by its name, as configurations do', () => {
    const at = place();
    const paths = { resources: join(import.meta.dirname, '../../../resources') };
    expect(listModels({ ...at, paths })).toMatchObject([
      { ref: 'bundled:tiny', model: 'tiny', name: 'tiny', problem: null },
      { ref: 'bundled:tiny-reply', model: 'tiny-reply', name: 'tiny-reply', problem: null },
    ]);
  });

  it('puts the newest run and its last checkpoint in front', () => {
    const at = place();
    for (const name of ['old', 'new']) {
      const run = addRun(at.store);
      at.store.runs.place(run, name, `outputs/${name}`);
      for (const step of [10, 20]) at.store.checkpoints.record(run, step, `outputs/${name}/${step}`, 'periodic');
    }
    expect(listModels(at).map(({ name }) => name)).toEqual([
      'new · step 20',
      'new · step 10',
      'old · step 20',
      'old · step 10',
    ]);
  });

  it('gives each checkpoint its held-out score on the dataset of its run', () => {
    const at = place();
    const run = addRun(at.store);
    at.store.runs.place(run, 'run', 'outputs/run');
    for (const step of [10, 20]) at.store.checkpoints.record(run, step, `outputs/run/${step}`, 'periodic');
    const row = at.store.runs.get(run);
    const own = evaluationDataset({ configJson: row?.configJson ?? '', dataset: row?.dataset ?? '' });
    const evaluation = {
      runId: run,
      checkpointId: null,
      model: 'run',
      step: 20,
      n: 2,
      low: 0,
      high: 1,
      exactMatch: null,
    };
    const shared = { ...evaluation, metrics: {}, duringTraining: true };
    at.store.evaluations.add({ ...shared, dataset: own, mean: 0.75 }, []);
    at.store.evaluations.add({ ...shared, dataset: 'other.jsonl', mean: 0.25 }, []);
    expect(listModels(at).map(({ step, heldOut }) => [step, heldOut])).toEqual([
      [20, 0.75],
      [10, null],
    ]);
  });

  it('marks a checkpoint that someone deleted, and rejects it', () => {
    const at = place();
    const run = addRun(at.store, { name: 'gone' });
    const checkpoint = at.store.checkpoints.record(run, 20, 'outputs/gone/checkpoint-20', 'periodic');
    expect(listModels(at)).toMatchObject([{ deleted: true, problem: expect.stringContaining('was deleted') }]);
    expect(errorOf(() => requireModel(at, `checkpoint:${checkpoint}`))).toMatchObject({ code: 'CHECKPOINT_MISSING' });
  });

  it("marks a checkpoint that its run no longer has, without the run's score", async () => {
    const at = place();
    const run = addRun(at.store, { name: 'run-1' });
    for (const step of [10, 20]) {
      disposeModel(await writeTinyModel(join(at.workspace.root, `outputs/run-1/checkpoint-${step}`)));
      at.store.checkpoints.record(run, step, `outputs/run-1/checkpoint-${step}`, 'periodic');
    }
    discardAfter(at.store, run, 10);
    expect(listModels(at)).toMatchObject([
      { step: 20, abandoned: true, deleted: false, problem: null, heldOut: null },
      { step: 10, abandoned: false },
    ]);
  });

  it('lists an unusable model with the reason, and rejects it', async () => {
    const at = place();
    const folder = (name: string): string => join(at.workspace.models, name);
    mkdirSync(folder('empty'));
    mkdirSync(folder('pickled'));
    disposeModel(await writeTinyModel(folder('whole')));
    writeFileSync(join(folder('pickled'), 'config.json'), JSON.stringify(validConfig));
    writeFileSync(join(folder('pickled'), 'pytorch_model-00001-of-00002.bin'), '');
    disposeModel(await writeTinyModel(folder('wordless')));
    rmSync(join(folder('wordless'), 'tokenizer.json'));
    mkdirSync(folder('foreign'));
    writeFileSync(join(folder('foreign'), 'config.json'), JSON.stringify({ ...validConfig, model_type: 'gpt2' }));

    const problems = Object.fromEntries(listModels(at).map(({ name, problem }) => [name, problem]));

    expect(problems).toEqual({
      empty: expect.stringContaining('config.json'),
      foreign: expect.stringContaining('model_type'),
      pickled: expect.stringContaining('pytorch_model-00001-of-00002.bin, a pickle'),
      whole: null,
      wordless: expect.stringContaining('tokenizer.json'),
    });
    expect(errorOf(() => requireModel(at, 'workspace:empty'))).toMatchObject({ code: 'MODEL_UNUSABLE' });
  });

  it('lists no folder that is only half made', () => {
    const at = place();
    mkdirSync(join(at.workspace.models, '.coming.1-1.tmp'));
    expect(listModels(at)).toEqual([]);
  });
});

describe('requireModel', () => {
  it('rejects a reference that means nothing', () => {
    expect(errorOf(() => requireModel(place(), 'workspace:none'))).toMatchObject({ code: 'MODEL_UNKNOWN' });
  });
});

describe('importedModels', () => {
  it('forgets a folder on request', () => {
    const { store } = place();
    rememberImported(store, '/a');
    rememberImported(store, '/b');
    forgetImported(store, '/a');
    expect(importedModels(store).map(({ folder }) => folder)).toEqual(['/b']);
  });

  it('treats invalid values as none', () => {
    const { store } = place();
    store.settings.set('imported_models', { folder: 'x' });
    expect(importedModels(store)).toEqual([]);
  });
});

const validConfig = {
  model_type: 'llama',
  vocab_size: 8,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
};
