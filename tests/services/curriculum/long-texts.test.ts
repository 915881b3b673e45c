import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editedStage, planCurriculum } from '../../../main/services/curriculum/edit.ts';
import { longTextFields } from '../../../main/services/curriculum/long-texts.ts';
import { changeSharedSettings } from '../../../main/services/curriculum/shared-settings.ts';
import { loweredRate, stageDefaults } from '../../../main/services/curriculum/stage-config.ts';
import { curriculumWords } from '../../../main/services/datasets/index.ts';
import type { StageRow } from '../../../main/store/stages.ts';
import { temporaryStore } from '../../store/helpers.ts';

const paths = { resources: resolve(import.meta.dirname, '../../../resources') };
const PRESET = 'interleave-tiny';

describe('longTextFields', () => {
  it.each([
    [null, {}],
    [10, {}],
    [99, {}],
    [100, { learning_rate: 7e-5 }],
    [500, { learning_rate: 7e-5 }],
  ])('of the bundled model with %s words', (words, expected) => {
    expect(longTextFields({ words, preset: PRESET, model: 'tiny' })).toEqual(expected);
  });

  it('leaves other presets and models alone', () => {
    expect(longTextFields({ words: 100, preset: 'interleave-llama-3.2-3b', model: 'tiny' })).toEqual({});
    expect(longTextFields({ words: 100, preset: PRESET, model: 'models/other' })).toEqual({});
  });
});

describe('the learning rate of a planned curriculum', () => {
  /** The whole ladder, with the rate of the stage of so many words. */
  function ladder() {
    const store = temporaryStore();
    planCurriculum(store);
    const stageOf = (words: number): StageRow => {
      const stage = store.stages.list().find((other) => other.words === words);
      if (stage === undefined) throw new Error(`Expected a stage of ${words} words`);
      return stage;
    };
    const rates = () =>
      curriculumWords.map((words) => {
        const stage = stageOf(words);
        return { ...stageDefaults(store, stage, paths), ...stage.config }.learning_rate;
      });
    const own = (words: number, config: StageRow['config']) =>
      store.stages.change(stageOf(words).id, { ...stageOf(words), config });
    const share = (config: Record<string, unknown>, preset = PRESET) =>
      changeSharedSettings(store, { preset, config }, paths);
    const lowered = (words: number) => loweredRate(store, stageDefaults(store, stageOf(words), paths), paths);
    return { rates, own, share, lowered };
  }

  it('is smaller by default from 100 words on', () => {
    const { rates, lowered } = ladder();
    expect(curriculumWords).toEqual([10, 25, 50, 100, 200, 500]);
    expect(rates()).toEqual([2e-4, 2e-4, 2e-4, 7e-5, 7e-5, 7e-5]);
    expect(lowered(50)).toBeNull();
    expect(lowered(100)).toEqual({ rate: 7e-5, preset: 2e-4 });
  });

  it("is the user's own where the user has set one, for a stage or for all of them", () => {
    const { rates, own, share, lowered } = ladder();
    own(100, { learning_rate: 3e-4 });
    expect(rates()).toEqual([2e-4, 2e-4, 2e-4, 3e-4, 7e-5, 7e-5]);
    // Also the preset's, if that is what the user says.
    share({ learning_rate: 2e-4 });
    expect(rates()).toEqual([2e-4, 2e-4, 2e-4, 3e-4, 2e-4, 2e-4]);
    expect(lowered(200)).toBeNull();
  });

  it("is the preset's for another model, of all stages or of one", () => {
    const { rates, own, share } = ladder();
    own(200, { model: 'models/other' });
    expect(rates()).toEqual([2e-4, 2e-4, 2e-4, 7e-5, 2e-4, 7e-5]);
    share({ model: 'models/other' });
    own(500, { model: 'tiny' });
    expect(rates()).toEqual([2e-4, 2e-4, 2e-4, 2e-4, 2e-4, 7e-5]);
    share({}, 'interleave-llama-3.2-3b');
    expect(new Set(rates()).size).toBe(1);
  });

  it('is shown for a stage before it is saved, with what its steps make of the other defaults', () => {
    const store = temporaryStore();
    planCurriculum(store);
    const [first] = store.stages.list();
    const defaults = (stageId: number | null, words: number, steps: number) =>
      stageDefaults(store, editedStage(store, stageId, { words, steps }), paths);
    expect(defaults(null, 100, 60)).toMatchObject({ learning_rate: 7e-5, eval_steps: 10, save_steps: 10 });
    expect(defaults(null, 50, 40)).toMatchObject({ learning_rate: 2e-4, eval_steps: 7 });
    expect(defaults(first?.id ?? 0, 200, 12)).toMatchObject({ learning_rate: 7e-5, eval_steps: 2 });
    expect(store.stages.list()).toHaveLength(curriculumWords.length);
    expect(store.stages.get(first?.id ?? 0)).toEqual(first);
  });
});
