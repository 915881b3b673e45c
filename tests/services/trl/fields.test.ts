import { describe, expect, it } from 'vitest';
import {
  missingFields,
  notCarriedOver,
  otherwiseFields,
  sameFields,
  trlArguments,
} from '../../../main/services/trl/fields.ts';
import { configFields, parseConfig } from '../../../main/trainer/config.ts';

describe('fields', () => {
  it('say of every field of a configuration what becomes of it, once', () => {
    const all = [...sameFields, ...otherwiseFields, ...Object.keys(missingFields)];
    expect(all.toSorted()).toEqual([...configFields].toSorted());
  });
});

describe('trlArguments', () => {
  it('have the values of the configuration, the computed length and the weights', () => {
    const config = parseConfig({ loss_type: 'cispo', epsilon_high: 5, vllm_importance_sampling_cap: 2 });
    expect(trlArguments(config, 37, [0.5, 1])).toMatchObject({
      ...{ loss_type: 'cispo', epsilon_high: 5, num_generations: 8, learning_rate: 1e-6 },
      ...{ max_completion_length: 37, reward_weights: [0.5, 1], gradient_checkpointing: false },
      ...{ vllm_importance_sampling_mode: 'token_truncate', vllm_importance_sampling_clip_max: 2 },
    });
  });

  it('divide by the deviation where TRL has no mean, which is listed', () => {
    const config = parseConfig({ scale_rewards: 'mean' });
    expect(trlArguments(config, 1, null).scale_rewards).toBe('group');
    expect(notCarriedOver(config)).toEqual([
      expect.objectContaining({ field: 'scale_rewards', value: 'mean', instead: expect.stringContaining('deviation') }),
    ]);
  });
});

describe('notCarriedOver', () => {
  it('lists what is set and what TRL does instead, and nothing at its default', () => {
    expect(notCarriedOver(parseConfig({}))).toEqual([]);
    expect(notCarriedOver(parseConfig({ dynamic_sampling: 3, kl_clamp: 10, temperature: 0.7 }))).toEqual([
      { field: 'dynamic_sampling', value: 3, instead: 'TRL keeps groups whose rewards are all equal' },
      { field: 'kl_clamp', value: 10, instead: 'TRL does not bound the log ratio' },
    ]);
  });
});
