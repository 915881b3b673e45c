import { describe, expect, it } from 'vitest';
import { parsePlan } from '../../../main/services/sweeps/plan.ts';
import { experimentNames, settingLabel, settingsOf } from '../../../main/services/sweeps/settings.ts';
import { errorOf } from '../../store/helpers.ts';

const plan = (value: object) => parsePlan({ name: 'lr', ...value }, 'plan');
const whole = (field: string): boolean => field === 'lora_r';

describe('settingsOf', () => {
  it('makes every combination of a grid once, the last field fastest', () => {
    const fields = { learning_rate: [1e-4, 2e-4, 1e-4], beta: [0, 0.1] };
    expect(settingsOf(plan({ fields }), whole)).toEqual([
      { learning_rate: 1e-4, beta: 0 },
      { learning_rate: 1e-4, beta: 0.1 },
      { learning_rate: 2e-4, beta: 0 },
      { learning_rate: 2e-4, beta: 0.1 },
    ]);
  });

  it('has one setting without fields: seeds of one configuration', () => {
    expect(settingsOf(plan({ seeds: 4 }), whole)).toEqual([{}]);
  });

  it('draws the same settings again, and others with another seed', () => {
    const fields = { learning_rate: { min: 1e-6, max: 1e-2, scale: 'log' }, method: ['grpo', 'sft'] };
    const draws = (draw_seed: number) => settingsOf(plan({ search: 'random', trials: 6, fields, draw_seed }), whole);
    expect(draws(1)).toEqual(draws(1));
    expect(draws(1)).toHaveLength(6);
    expect(draws(1)).not.toEqual(draws(2));
  });

  it('gives each order of magnitude of a logarithmic range its share', () => {
    const fields = { learning_rate: { min: 1e-6, max: 1e-2, scale: 'log' } };
    const values = settingsOf(plan({ search: 'random', trials: 400, fields }), whole).map((s) =>
      Number(s.learning_rate),
    );
    for (const decade of [1e-6, 1e-5, 1e-4, 1e-3]) {
      const inside = values.filter((value) => value >= decade && value < decade * 10).length;
      expect(inside).toBeGreaterThan(70);
      expect(inside).toBeLessThan(130);
    }
    expect(Math.min(...values)).toBeGreaterThanOrEqual(1e-6);
    expect(Math.max(...values)).toBeLessThanOrEqual(1e-2);
  });

  it('draws whole numbers for fields of whole numbers, each setting once where there are few', () => {
    const fields = { lora_r: { min: 4, max: 6 } };
    const values = settingsOf(plan({ search: 'random', trials: 50, fields }), whole).map(({ lora_r }) => lora_r);
    expect(values.toSorted()).toEqual([4, 5, 6]);
  });
});

describe('parsePlan', () => {
  it('counts seeds from 42', () => expect(plan({ seeds: 3 }).seeds).toEqual([42, 43, 44]));

  it.each([
    [{ seeds: [1, 1] }, 'expected each seed once'],
    [{ fields: { learning_rat: [1] } }, 'learning_rate'],
    [{ fields: { seed: [1, 2] } }, 'expected seeds in the list of seeds'],
    [{ fields: { beta: { min: 1, max: 0 } } }, '"beta": expected min to be below max'],
    [{ fields: { beta: { min: 0, max: 1, scale: 'log' } } }, 'expected min above 0 for a logarithmic range'],
    [{ name: '../up' }, 'expected a name of letters'],
    [{ seeds: 0 }, '"seeds": expected at least 1'],
    [{ halving: { min_steps: 0 } }, '"halving.min_steps": expected at least 1'],
    [{ grid: {} }, 'grid'],
  ])('refuses %j', (value, message) => {
    expect(errorOf(() => plan(value))).toMatchObject({ code: 'BAD_PLAN', message: expect.stringContaining(message) });
  });
});

describe('experimentNames', () => {
  it('spells the values, and counts where they are too long or equal', () => {
    expect(experimentNames('lr', [{ learning_rate: 2e-4 }, { learning_rate: 1e-3 }])).toEqual([
      'lr learning_rate 2e-4',
      'lr learning_rate 1e-3',
    ]);
    expect(experimentNames('a', [{ dataset: '/x/one?' }, { dataset: '/y/one!' }])).toEqual(['a 1', 'a 2']);
    expect(experimentNames('a', [{ system_prompt: 'x'.repeat(90) }])).toEqual(['a 1']);
    const prompts = [{ system_prompt: 'Коротко.' }, { system_prompt: '详细' }];
    const named = ['Опыт system_prompt Коротко.', 'Опыт system_prompt 详细'];
    expect(experimentNames(plan({ name: 'Опыт' }).name, prompts)).toEqual(named);
  });
});

describe('settingLabel', () => {
  it('reads as words', () => {
    expect(settingLabel({ learning_rate: 2e-4, method: 'grpo', pods_update_size: null })).toBe(
      'learning_rate 2e-4, method grpo, pods_update_size none',
    );
    expect(settingLabel({})).toBe('as configured');
  });
});
