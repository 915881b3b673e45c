import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPlan, draftSweep } from '../../../main/services/sweeps/draft.ts';
import { costKey, estimateDraft } from '../../../main/services/sweeps/estimate.ts';
import { parsePlan } from '../../../main/services/sweeps/plan.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';

const dataset = (): string => writeTinyDataset(`${temporaryFolder()}/2words.jsonl`);
const plan = (value: object) => parsePlan({ name: 'lr', ...value }, 'plan');
const base = { max_steps: 90, num_generations: 4, per_device_train_batch_size: 8 };

describe('draftSweep', () => {
  it('has a run for each setting and seed, seed by seed, evaluated at the end', () => {
    const fields = { learning_rate: [1e-5, 1e-4] };
    const { trials, steps } = draftSweep(plan({ fields, seeds: [1, 2] }), { ...base, dataset: dataset() });
    expect(trials.map(({ setting, seed }) => [setting, seed])).toEqual([
      [0, 1],
      [1, 1],
      [0, 2],
      [1, 2],
    ]);
    expect(trials[1]).toMatchObject({
      name: 'lr learning_rate 1e-4/seed_1',
      config: { seed: 1, learning_rate: 1e-4, eval_steps: 90, num_generations: 4 },
    });
    expect(steps).toBe(360);
  });

  it('evaluates at every rung, and keeps evaluations that include them', () => {
    const halving = { min_steps: 10, factor: 3 };
    const evaluated = (eval_steps: number) =>
      draftSweep(plan({ fields: { beta: [0, 0.1] }, halving }), { ...base, dataset: dataset(), eval_steps });
    expect(evaluated(0).trials[0]?.config.eval_steps).toBe(10);
    expect(evaluated(5).trials[0]?.config.eval_steps).toBe(5);
    expect(evaluated(7).trials[0]?.config.eval_steps).toBe(10);
    expect(evaluated(0).plan.rungs).toEqual([10, 30, 90]);
  });

  it('refuses successive halving without held-out records, with several lengths, or too late', () => {
    const file = dataset();
    const refused = (value: object, config: object = {}) =>
      errorOf(() => draftSweep(plan({ halving: { min_steps: 10 }, ...value }), { ...base, dataset: file, ...config }));
    expect(refused({ fields: { max_steps: [50, 60] } })).toMatchObject({
      message: expect.stringContaining('one max_steps'),
    });
    expect(refused({ halving: { min_steps: 90 } })).toMatchObject({
      message: 'Expected min_steps below the 90 steps of a whole run, got 90',
    });
    rmSync(file.replace('.jsonl', '.test.jsonl'));
    expect(refused({})).toMatchObject({ message: expect.stringContaining('held-out records') });
    rmSync(file);
    expect(refused({})).toMatchObject({ message: `${resolve(file)}: the file does not exist` });
  });
});

describe('checkPlan', () => {
  it('names the setting of each error, in plain words', () => {
    const check = (value: object) => checkPlan({ name: 'lr', ...value }, { ...base, dataset: dataset() });
    expect(check({ fields: { num_generations: [4, 3] } }).faults).toMatchObject([
      { setting: 'num_generations 3', field: 'per_device_train_batch_size' },
    ]);
    expect(check({ fields: { num_train_epochs: [1, 2] } }).faults).toMatchObject([
      { setting: 'num_train_epochs 1', field: 'num_train_epochs' },
      { setting: 'num_train_epochs 2' },
    ]);
    expect(check({ fields: { learning_rate: [] } }).faults).toMatchObject([
      { field: 'learning_rate', message: 'expected at least one value to try' },
    ]);
    expect(check({ fields: { learning_rate: { min: '', max: 1 } } }).faults).toMatchObject([
      { field: 'learning_rate', message: 'expected a number as the lowest value' },
    ]);
    expect(check({ seeds: ['x'] }).faults).toMatchObject([
      { field: 'seeds', message: 'expected whole numbers as seeds' },
    ]);
    expect(check({ fields: { learning_rate: { min: 0.1, max: 1 } } }).faults).toMatchObject([
      { message: 'expected a list of values for a grid, got a range' },
    ]);
    expect(check({ halving: { min_steps: 100 } }).problem).toContain('Expected min_steps below');
    expect(check({ fields: { beta: [0, 0.1] }, seeds: 2 })).toEqual({
      faults: [],
      problem: null,
      preview: { settings: ['beta 0', 'beta 0.1'], runs: 4, steps: 360, rungs: null },
    });
  });
});

describe('estimateDraft', () => {
  const measure = { secondsPerStep: 2, memoryBytes: 100, diskBytes: 10 };

  it('measures each kind of run once, and adds up', async () => {
    const fields = { learning_rate: [1e-5, 1e-4], lora_r: [4, 8] };
    const draft = draftSweep(plan({ fields, seeds: 3 }), { ...base, dataset: dataset() });
    const seen: number[] = [];
    const found = await estimateDraft(draft, async ({ lora_r }) => {
      seen.push(lora_r);
      return { ...measure, secondsPerStep: lora_r, memoryBytes: lora_r };
    });
    expect(seen).toEqual([4, 8]);
    expect(found).toEqual({
      runs: 12,
      steps: 1080,
      measured: 2,
      kinds: 2,
      memoryBytes: 8,
      diskBytes: 120,
      seconds: 6 * 90 * 4 + 6 * 90 * 8,
    });
  });

  it('counts evaluations: before the first step, at intervals, after the last', async () => {
    const draft = draftSweep(plan({ seeds: 2 }), { ...base, dataset: dataset(), eval_steps: 40 });
    const { seconds } = await estimateDraft(draft, async () => ({ ...measure, secondsPerEvaluation: 100 }));
    expect(seconds).toBe(draft.trials.length * (90 * 2 + 4 * 100));
  });

  it('measures some of many kinds, and counts only the steps of successive halving', async () => {
    const fields = { lora_r: [1, 2, 3, 4, 5, 6, 7, 8, 9] };
    const halving = { min_steps: 10, factor: 3 };
    const draft = draftSweep(plan({ fields, halving }), { ...base, dataset: dataset() });
    const found = await estimateDraft(draft, async () => measure);
    expect(found).toMatchObject({ measured: 4, kinds: 9, steps: 210, runs: 9 });
    expect(found.seconds).toBeCloseTo(420, 6);
  });
});

describe('costKey', () => {
  it('knows what a step costs: a KL term, but not its weight', () => {
    const config = (change: object) =>
      draftSweep(plan({}), { ...base, dataset: 'd.jsonl', ...change }).trials[0]?.config;
    const key = (change: object): string => costKey(config(change) as Parameters<typeof costKey>[0]);
    expect(key({ beta: 0.1 })).toBe(key({ beta: 0.2, learning_rate: 1 }));
    expect(key({ beta: 0.1 })).not.toBe(key({ beta: 0 }));
    expect(key({ num_generations: 2 })).not.toBe(key({}));
  });
});
