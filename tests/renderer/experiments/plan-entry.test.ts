import { describe, expect, it } from 'vitest';
import type { ConfigField } from '../../../main/api/contract/index.ts';
import { configForm } from '../../../main/services/config/form.ts';
import { parsePlan } from '../../../main/services/sweeps/plan.ts';
import {
  emptyPlan,
  newField,
  planFor,
  planOf,
  typingHint,
  type VariedField,
} from '../../../renderer/experiments/plan-entry.ts';

const fields = configForm();
const field = (name: string): ConfigField => {
  const found = fields.find((one) => one.name === name);
  if (found === undefined) throw new Error(`Expected a field, got ${name}`);
  return found;
};
const varied = (name: string, change: Partial<VariedField>): VariedField => ({ ...newField(field(name)), ...change });

describe('planOf', () => {
  it('reads values by the type of their field', () => {
    const entry = {
      ...emptyPlan,
      varied: [
        varied('learning_rate', { text: '1e-4, 2e-4' }),
        varied('pods_update_size', { text: '4 none' }),
        varied('method', { chosen: ['grpo', 'sft'] }),
        varied('use_rslora', { chosen: ['yes', 'no'] }),
        varied('model', { text: 'tiny\n/models/one, two\n' }),
        varied('reward_weights', { text: '1, 0.5\nnone' }),
        varied('lora_target_modules', { text: 'q_proj v_proj\no_proj' }),
      ],
    };
    const plan = planOf(entry, fields);
    expect(plan).toMatchObject({ name: 'Sweep', search: 'grid', seeds: [42, 43, 44] });
    expect(plan.fields).toEqual({
      learning_rate: [1e-4, 2e-4],
      pods_update_size: [4, null],
      method: ['grpo', 'sft'],
      use_rslora: [true, false],
      model: ['tiny', '/models/one, two'],
      reward_weights: [[1, 0.5], null],
      lora_target_modules: [['q_proj', 'v_proj'], ['o_proj']],
    });
    expect(parsePlan(plan, 'plan').seeds).toEqual([42, 43, 44]);
  });

  it('uses ranges for random search alone, and leaves errors to the host', () => {
    const range = varied('learning_rate', { mode: 'range', min: '1e-6', max: 'x', text: '1e-4' });
    const random = planOf({ ...emptyPlan, search: 'random', trials: 7, varied: [range] }, fields);
    expect(random).toMatchObject({ trials: 7, fields: { learning_rate: { min: 1e-6, max: 'x', scale: 'log' } } });
    expect(planOf({ ...emptyPlan, varied: [range] }, fields).fields).toEqual({ learning_rate: [1e-4] });
  });

  it('has successive halving where that is on', () => {
    const halving = { min_steps: 10, factor: 3 };
    expect(planOf({ ...emptyPlan, halving: true }, fields)).toMatchObject({ halving });
    expect(planOf(emptyPlan, fields)).not.toHaveProperty('halving');
  });
});

describe('typingHint', () => {
  it('names what separates values, and how to leave one out', () => {
    expect(typingHint(field('learning_rate'))).toBe('Values, separated by commas');
    expect(typingHint(field('pods_update_size'))).toBe('Values, separated by commas; none for no value');
    expect(typingHint(field('model'))).toBe('One value a line');
  });
});

describe('planFor', () => {
  it('names a sweep over the settings of a run after the run', () => {
    expect(planFor(undefined)).toEqual(emptyPlan);
    expect(parsePlan(planOf(planFor(12), fields), 'plan')).toMatchObject({ name: 'Sweep of run 12' });
  });
});
