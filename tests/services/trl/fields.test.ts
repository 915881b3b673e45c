import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { notCarriedOver, trainedByTrl, trlArguments } from '../../../main/services/trl/fields.ts';
import { configFaults, configFields, parseConfig } from '../../../main/trainer/config/config.ts';
import { DECLINED, FIXED, RENAMED, SET_ELSEWHERE } from '../../../main/trainer/config/trl-names.ts';
import { grpoConfigFields } from './grpo-config-fields.ts';

describe('trlArguments', () => {
  it('have the values of the configuration, the computed length and the weights', () => {
    const config = parseConfig({ loss_type: 'cispo', epsilon_high: 5, vllm_importance_sampling_clip_max: 2 });
    expect(trlArguments(config, 37, [0.5, 1])).toMatchObject({
      loss_type: 'cispo',
      epsilon_high: 5,
      num_generations: 8,
      learning_rate: 1e-6,
      max_completion_length: 37,
      reward_weights: [0.5, 1],
      gradient_checkpointing: false,
      vllm_importance_sampling_mode: 'token_truncate',
      vllm_importance_sampling_clip_max: 2,
    });
  });

  it('are none that train.py gives itself, which Python refuses', () => {
    const program = readFileSync(join(import.meta.dirname, '../../../resources/trl/train.py'), 'utf8');
    const call = program.slice(program.indexOf('GRPOConfig(\n'), program.indexOf('**settings["args"]'));
    const own = [...call.matchAll(/^ {8}(\w+)=/gm)].map(([, name]) => name);
    expect(own).toContain('output_dir');
    expect(own.filter((name) => Object.hasOwn(trlArguments(parseConfig({}), 1, null), name ?? ''))).toEqual([]);
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

describe('trainedByTrl', () => {
  it('has the defaults of what had no effect in TRL, and everything else', () => {
    const own = { temperature: 0.7, sample_steps: 3 };
    const config = parseConfig({ ...own, dynamic_sampling: 3, warm_up_steps: 5, scale_rewards: 'mean' });
    expect(trainedByTrl(config)).toEqual(parseConfig({ ...own, scale_rewards: 'group' }));
  });
});

describe.each(Object.entries(grpoConfigFields))('GRPOConfig of TRL %s', (_version, names) => {
  it('has each of its fields here, in another form, or declined with a reason', () => {
    const here: readonly string[] = configFields;
    const tables = [here, Object.keys(RENAMED), Object.keys(FIXED), Object.keys(SET_ELSEWHERE), Object.keys(DECLINED)];
    const places = names.map((name) => [name, tables.filter((table) => table.includes(name)).length]);
    expect(places.filter(([, count]) => count !== 1)).toEqual([]);
  });

  it('has every field that the tables here speak of, and every argument of an export', () => {
    const spoken = [...Object.keys(RENAMED), ...Object.keys(FIXED), ...Object.keys(SET_ELSEWHERE)];
    const all = [...spoken, ...Object.keys(DECLINED), ...Object.keys(trlArguments(parseConfig({}), 1, null))];
    const unknown = all.filter((name) => !names.includes(name));
    expect(unknown, 'for an export, list own fields in otherwiseFields or missingFields of trl/fields.ts').toEqual([]);
  });
});

describe('a configuration with names of TRL', () => {
  it('is read back from the arguments of an export', () => {
    const config = parseConfig({ vllm_importance_sampling_clip_max: 2, num_iterations: 2, scale_rewards: 'batch' });
    const back = parseConfig({ ...trlArguments(config, 37, null), num_generations_eval: 1 });
    expect(back).toEqual({ ...config, max_completion_length: 37, gradient_checkpointing: false });
  });

  it('may have the name that TRL has deprecated; the newer one counts', () => {
    expect(parseConfig({ vllm_importance_sampling_cap: 2 }).vllm_importance_sampling_clip_max).toBe(2);
    const both = { vllm_importance_sampling_cap: 2, vllm_importance_sampling_clip_max: 4 };
    expect(parseConfig(both).vllm_importance_sampling_clip_max).toBe(4);
    expect(configFaults({ vllm_importance_sampling_cap: -1 })).toMatchObject([
      { field: 'vllm_importance_sampling_clip_max' },
    ]);
  });

  it('is refused where it asks for what is not here, with the reason', () => {
    expect(configFaults({ num_generations_eval: 1 })).toEqual([]);
    for (const value of [4, null])
      expect(configFaults({ num_generations_eval: value })).toEqual([
        {
          field: 'num_generations_eval',
          message: expect.stringMatching(
            /^field "num_generations_eval" isn't one of Braid's: it would always be 1, as .* greedy/,
          ),
          remedy: null,
        },
      ]);
    expect(() => parseConfig({ use_vllm: true })).toThrow(/field "use_vllm" isn't one of Braid's: set engine/);
    expect(() => parseConfig({ deepspeed: 'a.json' })).toThrow(
      /field "deepspeed" isn't one of Braid's: a run is one process/,
    );
    expect(() => parseConfig({ lerning_rate: 1 })).toThrow(/unknown field "lerning_rate".*learning_rate/);
  });
});
