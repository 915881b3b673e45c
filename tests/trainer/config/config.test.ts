import { describe, expect, it } from 'vitest';
import { parseConfigText } from '../../../main/services/config/presets.ts';
import { configFaults, fieldFaults, parseConfig } from '../../../main/trainer/config/config.ts';
import { errorOf } from '../../store/helpers.ts';

const unknown = (count: number, length = 12): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`.padStart(length, 'x'), i]));

/** Milliseconds of the processor: the clock measures what else the machine does. */
function timed(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

describe('configFaults', () => {
  it('suggests the field that was meant', () => {
    expect(configFaults({ max_step: 1, lr: 1, constructor: 1 }).map(({ message }) => message)).toEqual([
      'unknown field "max_step"; did you mean "max_steps"?',
      'unknown field "lr"; did you mean "learning_rate"?',
      'unknown field "constructor"',
    ]);
  });

  it("takes transformers' forms of report_to", () => {
    const trackersOf = (given: unknown) => parseConfig({ dataset: 'a.jsonl', report_to: given }).report_to;
    expect(trackersOf('none')).toEqual([]);
    expect(trackersOf('wandb')).toEqual(['wandb']);
    expect(trackersOf(['mlflow', 'trackio'])).toEqual(['mlflow', 'trackio']);
    expect(configFaults({ report_to: 'comet' })[0]?.message).toContain('expected one of trackio, wandb, mlflow');
  });

  it("takes PEFT's forms of lora_target_modules", () => {
    const targetsOf = (given?: unknown) =>
      parseConfig({ dataset: 'a.jsonl', lora_target_modules: given }).lora_target_modules;
    expect(targetsOf('q_proj')).toEqual(['q_proj']);
    expect([targetsOf('all-linear'), targetsOf(['all-linear'])]).toEqual([targetsOf(), targetsOf()]);
    expect(configFaults({ lora_target_modules: ['all-linear', 'q_proj'] })[0]?.message).toContain('got "all-linear"');
  });

  it('says in plain words what was expected, as the form shows it beside the field', () => {
    const wrong = {
      max_steps: 1.5,
      learning_rate: 'fast',
      use_peft: 'maybe',
      method: 'ppo',
      top_p: 2,
      temperature: -1,
      dataset: '',
    };
    expect(Object.fromEntries(configFaults(wrong).map(({ field, message }) => [field, message]))).toEqual({
      max_steps: 'expected a whole number, got 1.5',
      learning_rate: 'expected a number, got "fast"',
      use_peft: 'expected true or false, got "maybe"',
      method: 'expected one of grpo, sft, polychromic-grpo, polychromic-sft, got "ppo"; did you mean "grpo"?',
      top_p: 'expected at most 1, got 2',
      temperature: 'expected more than 0, got -1',
      dataset: 'expected a text that is not empty, got ""',
    });
  });

  it("rejects a decay of 1, with which Adam's weights would not be numbers", () => {
    const faults = configFaults({ adam_beta1: 1, adam_beta2: 1 });
    expect(faults.map(({ field }) => field)).toEqual(['adam_beta1', 'adam_beta2']);
    expect(faults[0]?.message).toBe('expected less than 1, got 1');
    expect(configFaults({ adam_beta1: 0, adam_beta2: 0.9999 })).toEqual([]);
  });

  it('rejects reward weights that float32 has not', () => {
    for (const weight of [1e39, -1e39, 1e-50])
      expect(configFaults({ reward_weights: [1, weight] })).toMatchObject([{ field: 'reward_weights' }]);
    expect(configFaults({ reward_weights: [1, 0, -1e-40, 3e38] })).toEqual([]);
  });

  it('rejects negative reward weights with MaxRL, whose mean reward may then be close to 0', () => {
    const config = { scale_rewards: 'mean', reward_weights: [1, -0.5] };
    expect(configFaults(config)).toMatchObject([
      { field: 'scale_rewards', message: 'expected no negative reward_weights with scale_rewards mean, got -0.5' },
    ]);
    expect(configFaults({ ...config, reward_weights: [1, 0] })).toEqual([]);
    expect(configFaults({ ...config, method: 'sft' })).toEqual([]);
  });

  it('rejects rewards that are normalised one by one where sets are scored by their sum', () => {
    const config = { method: 'polychromic-grpo', multi_objective_aggregation: 'normalize_then_sum' };
    expect(configFaults(config)).toMatchObject([
      {
        field: 'multi_objective_aggregation',
        message:
          'expected multi_objective_aggregation sum_then_normalize with polychromic-grpo, got normalize_then_sum',
      },
    ]);
    expect(configFaults({ ...config, method: 'grpo' })).toEqual([]);
  });

  it('rejects dynamic sampling where equal rewards still have a signal, and knows its names elsewhere', () => {
    expect(configFaults({ method: 'polychromic-grpo', dynamic_sampling: 2 })).toMatchObject([
      { field: 'dynamic_sampling', message: 'expected dynamic_sampling 0 with polychromic-grpo, got 2' },
    ]);
    expect(configFaults({ method: 'polychromic-grpo', greso_exploration: 0.5 })[0]?.field).toBe('greso_exploration');
    expect(configFaults({ dynamic_sampling: 2, greso_exploration: 0.5 })).toEqual([]);
    expect(configFaults({ greso_exploration: 1 })).toMatchObject([{ message: 'expected less than 1, got 1' }]);
    expect(configFaults({ max_resample_times: 2 })[0]?.message).toMatch('did you mean "dynamic_sampling"?');
  });

  it('knows settings of other programs by their names, with the groups that verl puts them in', () => {
    const meant = ['actor_rollout_ref.actor.kl_loss_coef', 'clip_ratio_high', 'r', 'trainer.save_step'];
    const fields = ['beta', 'epsilon_high', 'lora_r', 'save_steps'];
    expect(configFaults(Object.fromEntries(meant.map((name) => [name, 1]))).map(({ message }) => message)).toEqual(
      meant.map((name, i) => `unknown field "${name}"; did you mean "${fields[i]}"?`),
    );
    expect(configFaults({ use_dora: true, warmup_ratio: 0.1, 'data.max_prompt_length': 9 })).toMatchObject([
      { message: expect.stringMatching(/^field "use_dora" isn't one of Braid's: a new adapter is LoRA or rsLoRA/) },
      { message: expect.stringContaining('set warmup_steps, in steps') },
      { message: expect.stringContaining('no text is cut') },
    ]);
  });

  it('knows the groups and the passes of other programs, and that none is another setting', () => {
    for (const group of ['trl', 'policy', 'training'])
      expect(configFaults({ [group]: {} })[0]?.message).toContain('fields are not nested');
    // OpenRLHF's passes over a batch of completions; elsewhere those over the records.
    expect(configFaults({ max_epochs: 1 })[0]?.message).toMatch(/num_iterations .* num_train_epochs/);
    expect(configFaults({ num_episodes: 1 })[0]?.message).toContain('did you mean "num_train_epochs"');
  });

  it("reads other programs' ways to keep all tokens and to report nowhere", () => {
    expect([null, -1, 0].map((top_k) => parseConfig({ top_k }).top_k)).toEqual([0, 0, 0]);
    expect(['none', ['none']].map((report_to) => parseConfig({ report_to }).report_to)).toEqual([[], []]);
  });

  it('says that a share of the steps is written in steps', () => {
    const faults = configFaults({ warmup_steps: 0.1, save_steps: 0.2, eval_steps: 1.5 });
    expect(
      faults.map(({ message }) => message.endsWith(": a share of the run's steps is written as a number of steps")),
    ).toEqual([true, true, false]);
  });

  it('says how TensorBoard is asked for', () => {
    const message = 'expected one of trackio, wandb, mlflow, got "tensorboard": set logging_dir';
    for (const report_to of ['tensorboard', ['wandb', 'tensorboard']])
      expect(configFaults({ report_to })).toEqual([{ field: 'report_to', message, remedy: null }]);
  });

  it("takes TRL's two values of scale_rewards that aren't names", () => {
    expect([true, false].map((scale_rewards) => parseConfig({ scale_rewards }).scale_rewards)).toEqual([
      'group',
      'none',
    ]);
  });

  it('holds what PODS trains on to the group that is sampled, and the batch to whole parts of groups', () => {
    const config = { num_generations: 8, per_device_train_batch_size: 12 };
    expect(configFaults({ ...config, pods_update_size: 4 })).toEqual([]);
    expect(configFaults({ ...config, pods_update_size: 9 })).toMatchObject([
      { field: 'pods_update_size', message: 'expected pods_update_size (9) to be at most num_generations (8)' },
    ]);
    expect(configFaults({ ...config, pods_update_size: 5 })).toMatchObject([
      {
        field: 'per_device_train_batch_size',
        message:
          'expected per_device_train_batch_size x steps_per_generation (12 completions) to be a multiple of pods_update_size (5)',
        remedy: 'Use 15 completions, or a group that divides 12.',
      },
    ]);
    expect(configFaults({ method: 'polychromic-grpo', pods_update_size: 4 })[0]?.field).toBe('pods_update_size');
  });

  it('rejects bounds of the entropy coefficient that exclude each other', () => {
    const config = { use_adaptive_entropy: true, entropy_coef_min: 0.2, entropy_coef_max: 0.1 };
    expect(configFaults(config)).toMatchObject([
      { field: 'entropy_coef_min', message: 'expected entropy_coef_min (0.2) to be at most entropy_coef_max (0.1)' },
    ]);
    expect(configFaults({ ...config, use_adaptive_entropy: false })).toEqual([]);
  });

  it("takes TRL's bf16 for compute_dtype, and refuses it where only float32 is computed", () => {
    expect(parseConfig({ bf16: true }).compute_dtype).toBe('bfloat16');
    expect(parseConfig({ bf16: false }).compute_dtype).toBe('float32');
    for (const other of [{ backend: 'wasm' }, { engine: 'far' }])
      expect(configFaults({ bf16: true, ...other })).toMatchObject([
        { field: 'compute_dtype', message: expect.stringContaining('only native and webgpu have it') },
      ]);
    const onGpu = { bf16: true, backend: 'webgpu' };
    expect(configFaults(onGpu)).toEqual([]);
    for (const wide of [{ use_peft: false }, { base_weights: 'float32' }])
      expect(configFaults({ ...onGpu, ...wide })).toMatchObject([
        { field: 'compute_dtype', message: expect.stringContaining('weights in float32') },
      ]);
    expect(configFaults({ fp16: true })).toMatchObject([{ message: expect.stringContaining('set compute_dtype') }]);
  });

  it('lets a reference follow the policy only where there is one, of all weights', () => {
    const config = { sync_ref_model: true, use_peft: false, beta: 0.1 };
    expect(configFaults(config)).toEqual([]);
    expect(configFaults({ ...config, use_peft: true })).toMatchObject([
      { field: 'sync_ref_model', message: 'expected use_peft false with sync_ref_model, got true' },
    ]);
    expect(configFaults({ ...config, beta: 0 })).toMatchObject([
      { field: 'sync_ref_model', message: 'expected beta above 0 with sync_ref_model, got 0' },
    ]);
  });

  it('describes twenty faults, whatever a page or a file brings', () => {
    expect(configFaults(unknown(20_000))).toHaveLength(20);
    expect(
      fieldFaults({ ...unknown(1000), max_steps: 'many', lora_target_modules: Array(1000).fill('x') }),
    ).toHaveLength(20);
    expect((errorOf(() => parseConfig(unknown(500))) as Error).message).toMatch(/; and 480 more$/);
  });

  it('takes milliseconds for 20,000 unknown keys, for a long one, and for large values', () => {
    // Each of these took from seconds to minutes.
    expect(timed(() => configFaults(unknown(20_000, 20)))).toBeLessThan(1000);
    expect(timed(() => configFaults({ ['x'.repeat(4_000_000)]: 1 }))).toBeLessThan(1000);
    const deep: unknown[] = [];
    let inner = deep;
    for (let level = 0; level < 100_000; level++) inner = inner[inner.push([]) - 1] as unknown[];
    for (const value of ['x'.repeat(1_000_000), deep, Array(100_000).fill(7)]) {
      const [fault] = configFaults({ max_steps: value });
      expect(fault?.message.length).toBeLessThan(400);
    }
  });
});

describe('parseConfigText', () => {
  it('refuses a text that no configuration needs, before the parser compares its keys', () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `k${i}:\n`).join('');
    expect(
      timed(() => expect(errorOf(() => parseConfigText('a.yaml', text))).toMatchObject({ code: 'BAD_CONFIG' })),
    ).toBeLessThan(1000);
    const most = Array.from({ length: 7500 }, (_, i) => `k${i}: 1\n`)
      .join('')
      .slice(0, 32 * 2 ** 10);
    expect(timed(() => errorOf(() => parseConfigText('a.yaml', most)))).toBeLessThan(5000);
  });
});
