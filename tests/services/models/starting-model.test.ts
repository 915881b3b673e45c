import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { changeSharedSettings } from '../../../main/services/curriculum/shared-settings.ts';
import {
  leftCheckpoint,
  loweredRate,
  stageConfig,
  stageDefaults,
} from '../../../main/services/curriculum/stage-config.ts';
import { resolveModel, resolveModelParts } from '../../../main/services/models/resolve.ts';
import { chosenStartingModel, rootModel } from '../../../main/services/models/starting-model.ts';
import { replyFields, replyPreset } from '../../../main/services/recipes/reply-presets.ts';
import { createRun } from '../../../main/services/runs/runs.ts';
import { toStoredPath } from '../../../main/services/workspace/workspace.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { checkModelFolder } from '../../../main/trainer/memory/model-folder.ts';
import { describeWeights, STARTING_MODEL } from '../../../main/trainer/policy/starting-weights.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const paths = checkoutPaths(resolve(import.meta.dirname, '../../..'));

/** Two models of the workspace, and a way to make checkpoints of runs. */
function world() {
  const store = temporaryStore();
  const model = (name: string): string => {
    const folder = join(store.folder, 'models', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{}');
    return folder;
  };
  const [first, second] = [model('first'), model('second')];
  const checkpoint = (fields: object, adapterOf: string | null, stageId: number | null = null): string => {
    const config = parseConfig({ dataset: 'd.jsonl', use_peft: adapterOf !== null, ...fields });
    const { runId, folder } = createRun(store, config, { stageId });
    const path = join(folder, 'checkpoint-5');
    mkdirSync(path);
    const adapter = JSON.stringify({ base_model_name_or_path: adapterOf });
    writeFileSync(
      join(path, adapterOf === null ? 'config.json' : 'adapter_config.json'),
      adapterOf === null ? '{}' : adapter,
    );
    store.checkpoints.record(runId, 5, toStoredPath(store.folder, path), 'periodic');
    return path;
  };
  return { store, first, second, checkpoint };
}

describe('resolveModelParts', () => {
  it('finds the bundled base of an adapter that was trained where the app lay before, unless it is another one', () => {
    const { checkpoint } = world();
    const trainedOn = (name: string) => checkpoint({}, `/opt/Braid-0.0.9/resources/models/${name}`);
    const folder = trainedOn('tiny');
    const tiny = join(paths.resources, 'models', 'tiny');
    const write = (content: object) => writeFileSync(join(folder, STARTING_MODEL), JSON.stringify(content));
    // Of an older version, which notes nothing; then of this one.
    expect(resolveModelParts(folder, paths).base).toBe(tiny);
    write(describeWeights([tiny]));
    expect(resolveModelParts(folder, paths).base).toBe(tiny);
    write({ 'weights 1': 'others' });
    for (const other of [folder, trainedOn('none')])
      expect(errorOf(() => resolveModelParts(other, paths))).toMatchObject({ code: 'BASE_MISSING' });
  });
});

describe('resolveModel', () => {
  it('takes the names of the list of models, and of the Hub for what is downloaded', () => {
    const { store, first } = world();
    const own = { ...paths, models: join(store.folder, 'models') };
    expect(['first', 'somebody/first', first].map((name) => resolveModel(name, own))).toEqual([first, first, first]);
    expect(chosenStartingModel(store, { model: 'first', from_checkpoint: null }, paths).model).toBe(first);
    for (const name of ['third', '..', ''])
      expect(
        errorOf(() => resolveModel(name, own)),
        name,
      ).toMatchObject({ code: 'MODEL_MISSING' });
  });

  it('names the newest checkpoint of an output folder, and how shards of several processes are merged', () => {
    const output = temporaryFolder();
    const actor = join(output, 'verl', 'global_step_20', 'actor');
    mkdirSync(actor, { recursive: true });
    writeFileSync(join(actor, 'model_world_size_2_rank_0.pt'), '');
    for (const folder of ['verl', 'verl/global_step_20/actor'])
      expect(errorOf(() => resolveModel(join(output, folder), paths))).toMatchObject({
        message: expect.stringContaining('a part of what several processes saved'),
        remedy: expect.stringContaining('verl.model_merger merge'),
      });
    const adapter = join(actor, 'lora_adapter');
    const checkpoints = [9, 12, 3].map((step) => join(output, 'trl', `checkpoint-${step}`));
    for (const folder of [adapter, ...checkpoints]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'adapter_model.safetensors'), '');
    }
    for (const [folder, newest] of [
      ['verl', adapter],
      ['trl', checkpoints[1]],
    ] as const)
      expect(errorOf(() => resolveModel(join(output, folder), paths))).toMatchObject({
        remedy: `Give the one inside: ${newest}`,
      });
  });
});

describe('chosenStartingModel', () => {
  it("refuses a model that isn't the checkpoint's own, and says what both are", () => {
    const { store, first, second, checkpoint } = world();
    const from = checkpoint({ model: first }, first);
    const start = (model: string) => chosenStartingModel(store, { model, from_checkpoint: from }, paths);
    const refused = errorOf(() => start(second)) as Error;
    expect(refused).toMatchObject({ code: 'MODEL_MISMATCH', remedy: expect.stringContaining(`set model to ${first}`) });
    expect(refused.message).toContain(`trained from ${first}, but the configuration names the model ${second}`);
    expect(errorOf(() => start('models/not-here'))).toMatchObject({
      message: expect.stringContaining('names the model models/not-here'),
    });
    for (const model of [first, 'models/first', 'tiny'])
      expect(start(model)).toEqual({ folder: first, model: first, from });
  });

  it('follows full checkpoints to the model of the first run', () => {
    const { store, first, second, checkpoint } = world();
    const one = checkpoint({ model: first }, null);
    const two = checkpoint({ model: one, from_checkpoint: one }, null);
    const adapter = checkpoint({ model: two, from_checkpoint: two }, two);
    for (const from_checkpoint of [one, two, adapter]) {
      expect(rootModel(store, { model: 'tiny', from_checkpoint }, paths)).toBe(first);
      const start = (model: string) => chosenStartingModel(store, { model, from_checkpoint }, paths);
      for (const model of [first, one, 'tiny']) expect(start(model).from).toBe(from_checkpoint);
      expect(errorOf(() => start(second))).toMatchObject({ code: 'MODEL_MISMATCH' });
    }
  });

  it('accepts any model for a checkpoint whose own is not known or not here', () => {
    const { store, first, checkpoint } = world();
    const elsewhere = checkpoint({ model: '/elsewhere/model' }, 'Owner/not-here');
    expect(chosenStartingModel(store, { model: first, from_checkpoint: elsewhere }, paths).folder).toBe(first);
  });

  it('refuses an adapter as the model, and says where it belongs', () => {
    const { store, first, checkpoint } = world();
    const model = checkpoint({ model: first }, first);
    const refused = { code: 'ADAPTER_ALONE', remedy: expect.stringContaining('from_checkpoint') };
    expect(errorOf(() => chosenStartingModel(store, { model, from_checkpoint: null }, paths))).toMatchObject(refused);
    expect(errorOf(() => checkModelFolder(model))).toMatchObject(refused);
  });
});

describe('a stage of a curriculum', () => {
  function stages() {
    const made = world();
    const ids = [10, 25].map((words) => {
      const file = join(made.store.folder, `${words}words.jsonl`);
      const row = { file, task: 'interleave', words, trainN: 1, testN: 1, seed: 1, template: null, textHash: null };
      return addStage(made.store, { datasetId: made.store.datasets.record({ ...row, name: `${words}words` }) });
    });
    const second = () => {
      const stage = made.store.stages.list()[1];
      if (stage === undefined) throw new Error('Expected two stages');
      return stage;
    };
    const share = (model: string) =>
      changeSharedSettings(made.store, { preset: 'interleave-tiny', config: { model } }, paths);
    return { ...made, ids, stage: second, share };
  }

  it('starts from a new model of all stages, not from the checkpoint of the old one, and says so', () => {
    const { store, first, second, checkpoint, ids, stage, share } = stages();
    share(first);
    const before = checkpoint({ model: first }, first, ids[0]);
    expect(stageDefaults(store, stage(), paths)).toMatchObject({ model: first, from_checkpoint: before });
    expect(leftCheckpoint(store, stage(), paths)).toBeNull();
    share(second);
    expect(stageConfig(store, stage(), paths)).toMatchObject({ model: second, from_checkpoint: null });
    expect(leftCheckpoint(store, stage(), paths)).toMatchObject({ step: 5, base: first, model: second });
    // The bundled model is a choice, too, where the settings name it.
    share('tiny');
    expect(stageConfig(store, stage(), paths)).toMatchObject({ model: 'tiny', from_checkpoint: null });
  });

  it('starts from the checkpoint that it names itself, whatever the model of all stages', () => {
    const { store, first, second, checkpoint, ids, stage, share } = stages();
    share(second);
    const from_checkpoint = checkpoint({ model: first }, first, ids[0]);
    store.stages.change(stage().id, { ...stage(), config: { from_checkpoint } });
    const config = stageConfig(store, stage(), paths);
    expect(chosenStartingModel(store, config, paths)).toMatchObject({ folder: first, from: from_checkpoint });
  });

  it("has the preset's learning rate for long texts, too, where it names another model's checkpoint", () => {
    const { store, first, checkpoint, ids, stage } = stages();
    const long = { ...stage(), words: 100 };
    expect(loweredRate(store, stageDefaults(store, long, paths), paths)).toMatchObject({ rate: 7e-5 });
    const config = { from_checkpoint: checkpoint({ model: first }, first, ids[0]) };
    const defaults = stageDefaults(store, { ...long, config }, paths);
    expect(defaults.learning_rate).toBe(2e-4);
    expect(loweredRate(store, defaults, paths)).toBeNull();
  });
});

describe('the methods of the reply system', () => {
  it('train a small model by the settings of the tiny ones, every other by those for real models', () => {
    const { store, first, checkpoint } = world();
    const preset = (start: object) => replyPreset(store, 'polychromic', start, paths);
    expect([preset({}), preset({ model: 'tiny-reply' }), preset({ model: first })]).toEqual([
      ...['polychromic', 'polychromic', 'qwen2.5-polychromic'],
    ]);
    const small = join(store.folder, 'models', 'small');
    mkdirSync(small);
    copyFileSync(join(paths.resources, 'models/tiny-reply/config.json'), join(small, 'config.json'));
    expect(preset({ model: small })).toBe('polychromic');
    const tiny = checkpoint({ model: 'tiny-reply' }, 'tiny-reply');
    expect(preset({ model: 'tiny-reply', from_checkpoint: tiny })).toBe('polychromic');
    const from_checkpoint = checkpoint({ model: first }, first);
    const fields = replyFields(store, 'grpo_from_baseline', { model: first, from_checkpoint }, paths);
    expect(fields).toMatchObject({ model: first, from_checkpoint, learning_rate: 1e-4, temperature: 0.8, beta: 0.1 });
    expect(replyFields(store, 'grpo_from_baseline', {}, paths)).toMatchObject({
      model: 'tiny-reply',
      from_checkpoint: null,
    });
  });
});
