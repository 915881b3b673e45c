import { describe, expect, it } from 'vitest';
import { assigned, unusedSettings } from '../../main/commands/train-config.ts';
import { parseConfig } from '../../main/trainer/config/config.ts';

describe('assigned', () => {
  it("has the fields of --set, read as YAML, TRL's names by the ones that they have here", () => {
    const options = ['beta=0.04', 'lora_target_modules=[q_proj]', 'vllm_importance_sampling_cap=2'];
    expect(assigned([...options, 'num_generations_eval=1'])).toEqual({
      beta: 0.04,
      lora_target_modules: ['q_proj'],
      vllm_importance_sampling_clip_max: 2,
    });
    expect(assigned(['max_steps=-1'])).toEqual({ num_train_epochs: 3 });
    expect(assigned(['max_steps=-1', 'num_train_epochs=2'])).toEqual({ num_train_epochs: 2 });
    // Left for the check of the whole configuration.
    expect(assigned(['num_generations_eval=4'])).toEqual({ num_generations_eval: 4 });
  });

  it('says why a field of TRL is none, and what a misspelt one means', () => {
    expect(() => assigned(['use_vllm=true'])).toThrow(/got "use_vllm=true": set engine/);
    expect(() => assigned(['lerning_rate=1'])).toThrow(/got "lerning_rate=1"; did you mean "learning_rate"\?$/);
    expect(() => assigned(['beta'])).toThrow(/got "beta"$/);
  });
});

describe('unusedSettings', () => {
  it('says which of steps and epochs holds, where a configuration has both and TRL would follow the other', () => {
    const planned = parseConfig({ num_train_epochs: 1, max_steps: 160 });
    expect(unusedSettings({ num_train_epochs: 1, max_steps: 3 }, planned)).toEqual([
      expect.stringMatching(/\(1\) decides: 160 steps.*\(3\), which TRL/),
    ]);
    for (const given of [{ max_steps: 160, num_train_epochs: 1 }, { num_train_epochs: 1 }, { max_steps: 3 }])
      expect(unusedSettings(given, planned)).toEqual([]);
  });

  it("says where an adapter's own rank holds", () => {
    const planned = parseConfig({ from_checkpoint: '/a', lora_r: 8 });
    expect(unusedSettings({ lora_r: 16, lora_alpha: 32 }, planned)).toEqual([
      'lora_r is 8, as the adapter in /a has it; 16 has no effect.',
    ]);
  });
});
