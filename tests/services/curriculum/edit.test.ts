import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { curriculum } from '../../../main/services/curriculum/curriculum.ts';
import {
  addStage,
  changeStage,
  defaultPromotion,
  defaultSteps,
  moveStage,
  planCurriculum,
  removeStage,
} from '../../../main/services/curriculum/edit.ts';
import { stageConfig } from '../../../main/services/curriculum/stage-config.ts';
import { requireStage } from '../../../main/services/curriculum/stage-runs.ts';
import type { Store } from '../../../main/store/index.ts';
import { addRun, errorOf, temporaryStore } from '../../store/helpers.ts';

const names = (store: Store) => store.stages.list().map(({ name, position }) => [name, position]);

/** A dataset whose file is there. */
function dataset(store: Store, words: number, name = `${words}words`): number {
  const folder = join(store.folder, 'datasets');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.jsonl`);
  writeFileSync(file, '');
  const row = { name, file, task: 'interleave', words, trainN: 1, testN: 1, seed: 1, template: null, textHash: null };
  return store.datasets.record(row);
}

describe('addStage and changeStage', () => {
  it('take defaults, names and words from what is known', () => {
    const store = temporaryStore();
    const datasetId = dataset(store, 25);
    const id = addStage(store, { datasetId });
    expect(store.stages.get(id)).toMatchObject({
      name: '25 words',
      words: 25,
      steps: defaultSteps,
      position: 0,
      state: 'planned',
      config: {},
      promotion: defaultPromotion,
    });
    changeStage(store, id, { steps: 40, promotion: null, config: { temperature: 0.7 } });
    expect(store.stages.get(id)).toMatchObject({ steps: 40, promotion: null, config: { temperature: 0.7 }, words: 25 });
    changeStage(store, id, { datasetId: dataset(store, 50), name: 'Half a page' });
    expect(store.stages.get(id)).toMatchObject({ name: 'Half a page', words: 50, steps: 40 });
  });

  it('give a new stage what the form of a new stage starts with', () => {
    const store = temporaryStore();
    const queue = { held: () => null, heldFor: () => null };
    const paths = checkoutPaths(join(import.meta.dirname, '../../..'));
    const { newStage } = curriculum({ store, queue, paths }, false);
    expect(store.stages.get(addStage(store, {}))).toMatchObject(newStage);
  });

  it('take a dataset of any task, which names the stage', () => {
    const store = temporaryStore();
    const row = { name: 'sums', file: '/sums.jsonl', task: 'arithmetic', words: null, trainN: 1, testN: 1, seed: 1 };
    const datasetId = store.datasets.record({ ...row, template: null, textHash: null });
    // A reward may be of any size.
    const id = addStage(store, { datasetId, promotion: { ...defaultPromotion, at_least: 2.5 } });
    expect(store.stages.get(id)).toMatchObject({ name: 'sums', words: null, promotion: { at_least: 2.5 } });
    const paths = checkoutPaths(join(import.meta.dirname, '../../..'));
    expect(stageConfig(store, requireStage(store, id), paths)).toMatchObject({ task: 'arithmetic' });
  });

  it('reject a dataset that is not there and settings that make no sense', () => {
    const store = temporaryStore();
    const id = addStage(store, { words: 10 });
    expect(errorOf(() => changeStage(store, id, { datasetId: 9 }))).toMatchObject({ code: 'DATASET_UNKNOWN' });
    expect(errorOf(() => changeStage(store, id, { config: { temperature: 0 } }))).toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringMatching(/^"temperature": /),
    });
    expect(errorOf(() => changeStage(store, id, { config: { num_train_epochs: 2 } }))).toMatchObject({
      code: 'BAD_CONFIG',
      remedy: 'Set its steps.',
    });
    expect(errorOf(() => changeStage(store, 77, {}))).toMatchObject({ code: 'STAGE_UNKNOWN' });
    expect(store.stages.get(id)).toMatchObject({ datasetId: null, config: {} });
  });
});

describe('moveStage and removeStage', () => {
  it('keep places without gaps', () => {
    const store = temporaryStore();
    const [a, , c] = ['a', 'b', 'c'].map((name) => addStage(store, { name }));
    moveStage(store, c ?? 0, 0);
    expect(names(store)).toEqual([
      ['c', 0],
      ['a', 1],
      ['b', 2],
    ]);
    moveStage(store, c ?? 0, 99);
    removeStage(store, a ?? 0);
    expect(names(store)).toEqual([
      ['b', 0],
      ['c', 1],
    ]);
  });

  it('keep a stage that is training, and the runs of a removed one', () => {
    const store = temporaryStore();
    const id = addStage(store, { name: 'a' });
    const run = addRun(store, { stageId: id });
    store.stages.setState(id, 'running');
    expect(errorOf(() => removeStage(store, id))).toMatchObject({ code: 'STAGE_BUSY' });
    store.stages.setState(id, 'done');
    removeStage(store, id);
    expect(store.runs.get(run)).toMatchObject({ stageId: null });
  });
});

describe('planCurriculum', () => {
  it('plans every length once, with the newest dataset that is there, in order', () => {
    const store = temporaryStore();
    addStage(store, { words: 100, name: 'My hundred' });
    dataset(store, 10, 'older');
    const newer = dataset(store, 10, 'newer');
    const odd = dataset(store, 3);
    const gone = { name: 'gone', file: '/no/such.jsonl', task: 'interleave', words: 25, trainN: 1, testN: 1, seed: 1 };
    store.datasets.record({ ...gone, template: null, textHash: null });
    expect(planCurriculum(store)).toBe(6);
    expect(store.stages.list().map(({ name, datasetId }) => [name, datasetId])).toEqual([
      ['3 words', odd],
      ['10 words', newer],
      ['25 words', null],
      ['50 words', null],
      ['My hundred', null],
      ['200 words', null],
      ['500 words', null],
    ]);
    expect(planCurriculum(store)).toBe(0);
  });
});
