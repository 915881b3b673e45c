import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { changeSharedSettings, sharedSettings } from '../../../main/services/curriculum/shared-settings.ts';
import { stageConfig } from '../../../main/services/curriculum/stage-config.ts';
import type { Store } from '../../../main/store/index.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';

const paths = { resources: resolve(import.meta.dirname, '../../../resources') };

/** Stages of 10 and 25 words, with datasets. */
function twoStages(): { readonly store: Store; config(index: number): ReturnType<typeof stageConfig> } {
  const store = temporaryStore();
  const folder = join(store.folder, 'datasets');
  mkdirSync(folder, { recursive: true });
  for (const words of [10, 25]) {
    const file = join(folder, `${words}words.jsonl`);
    writeFileSync(file, '');
    const row = { file, task: 'interleave', words, trainN: 1, testN: 1, seed: 1, template: null, textHash: null };
    addStage(store, { datasetId: store.datasets.record({ ...row, name: `${words}words` }) });
  }
  const config = (index: number) => {
    const stage = store.stages.list()[index];
    if (stage === undefined) throw new Error(`Expected a stage ${index}`);
    return stageConfig(store, stage, paths);
  };
  return { store, config };
}

describe('settings of all stages', () => {
  it('reach every stage, and a change of them too', () => {
    const { store, config } = twoStages();
    expect([config(0), config(1)].map(({ model, use_peft }) => [model, use_peft])).toEqual(
      Array(2).fill([config(0).model, config(0).use_peft]),
    );
    const usual = config(0).use_peft;
    changeSharedSettings(store, { preset: 'interleave-tiny', config: { use_peft: !usual, num_generations: 8 } }, paths);
    for (const stage of [0, 1]) expect(config(stage)).toMatchObject({ use_peft: !usual, num_generations: 8 });
    changeSharedSettings(store, { preset: 'interleave-llama-3.2-3b', config: {} }, paths);
    for (const stage of [0, 1]) expect(config(stage)).toMatchObject({ use_peft: true, lora_r: 16 });
    // Steps and evaluations stay a stage's own.
    expect(config(0).max_steps).toBe(store.stages.list()[0]?.steps);
  });

  it('give way to what a stage sets itself', () => {
    const { store, config } = twoStages();
    const [first] = store.stages.list();
    if (first !== undefined) store.stages.change(first.id, { ...first, config: { temperature: 0.7 } });
    changeSharedSettings(store, { preset: 'interleave-tiny', config: { temperature: 1.2 } }, paths);
    expect([config(0), config(1)].map(({ temperature }) => temperature)).toEqual([0.7, 1.2]);
  });

  it('are checked before they are stored', () => {
    const { store } = twoStages();
    const change = (preset: string, config: object) =>
      errorOf(() => changeSharedSettings(store, { preset, config: { ...config } }, paths));
    expect(change('nowhere', {})).toMatchObject({ code: 'PRESET_UNKNOWN' });
    expect(change('interleave-tiny', { temperature: 0 })).toMatchObject({ code: 'BAD_CONFIG' });
    expect(change('interleave-tiny', { from_checkpoint: 'x' })).toMatchObject({
      message: '"from_checkpoint" is set at each stage, not for all of them',
    });
    expect(sharedSettings(store, paths)).toEqual({ preset: 'interleave-tiny', config: {} });
    // A preset of another version.
    store.settings.set('curriculum', { preset: 'gone', config: { temperature: 2 } });
    expect(sharedSettings(store, paths)).toEqual({ preset: 'interleave-tiny', config: {} });
  });
});
