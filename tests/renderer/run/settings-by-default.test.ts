import { describe, expect, it } from 'vitest';
import { splitByDefault } from '../../../renderer/run/settings-by-default.ts';

describe('splitByDefault', () => {
  it('puts what differs from the defaults, or has none, first', () => {
    const defaults = new Map<string, unknown>([
      ['beta', 0],
      ['lora_target_modules', ['q_proj']],
      ['reward_weights', null],
    ]);
    const settings = [
      ['beta', 0],
      ['lora_target_modules', ['q_proj', 'v_proj']],
      ['reward_weights', null],
      ['old_field', 3],
    ] as const;
    const [changed, usual] = splitByDefault(settings, defaults);
    expect(changed.map(([field]) => field)).toEqual(['lora_target_modules', 'old_field']);
    expect(usual.map(([field]) => field)).toEqual(['beta', 'reward_weights']);
  });
});
