/** Settings that are valid by themselves and contradict one another. */
import { inputError } from '../../errors.ts';
import { fitsFloat32 } from '../../float32.ts';
import type { TaskFacts } from '../../tasks/task.ts';
import type { ConfigFault } from '../../text/field-faults.ts';
import { isReinforcement, type TrainConfig, trainedGroupSize } from './schema.ts';

/** An inconsistency between valid settings; null: none. */
export function combinationFault(config: TrainConfig): ConfigFault | null {
  return (
    weightSizesFault(config) ??
    computeFault(config) ??
    warmUpFault(config) ??
    polychromicFault(config) ??
    (isReinforcement(config.method)
      ? (groupFault(config) ??
        difficultyFault(config) ??
        maxRlFault(config) ??
        entropyFault(config) ??
        referenceFault(config))
      : null)
  );
}

/** Native has bfloat16, webgpu with frozen weights of 16 bits and fewer; with auto, it is known once a backend is chosen. */
function computeFault({ compute_dtype, backend, engine, use_peft, base_weights }: TrainConfig): ConfigFault | null {
  if (compute_dtype === 'float32') return null;
  const field = 'compute_dtype';
  const areFloat32 = !use_peft || base_weights === 'float32';
  if (backend === 'webgpu' && engine === null && areFloat32)
    return {
      field,
      message: `expected ${field} float32 with webgpu and weights in float32, got ${compute_dtype}: its matrix units take 16 bits and fewer`,
      remedy: 'Set it to float32; or use_peft to true and base_weights to auto.',
    };
  const other = engine !== null ? `the engine "${engine}"` : backend === 'wasm' ? backend : null;
  if (other === null) return null;
  return {
    field,
    message: `expected ${field} float32 with ${other}, got ${compute_dtype}: only native and webgpu have it`,
    remedy: engine !== null ? 'Set it to float32.' : 'Set it to float32, or backend to native or webgpu.',
  };
}

/** The other methods are supervised from their first step. */
function warmUpFault({ method, warm_up_steps: steps }: TrainConfig): ConfigFault | null {
  if (steps === 0 || isReinforcement(method)) return null;
  return {
    field: 'warm_up_steps',
    message: `expected warm_up_steps 0 with ${method}, got ${steps}`,
    remedy: `Set it to 0: ${method} trains on targets from its first step.`,
  };
}

function entropyFault({ use_adaptive_entropy, entropy_coef_min: min, entropy_coef_max: max }: TrainConfig) {
  if (!use_adaptive_entropy || min <= max) return null;
  const message = `expected entropy_coef_min (${min}) to be at most entropy_coef_max (${max})`;
  return { field: 'entropy_coef_min', message, remedy: null } satisfies ConfigFault;
}

function referenceFault({ sync_ref_model, use_peft, beta }: TrainConfig): ConfigFault | null {
  if (!sync_ref_model || (!use_peft && beta > 0)) return null;
  const [message, remedy] = use_peft
    ? ['expected use_peft false with sync_ref_model, got true', 'Train all weights: adapters cannot be mixed.']
    : ['expected beta above 0 with sync_ref_model, got 0', 'Set beta: without a KL term there is no reference.'];
  return { field: 'sync_ref_model', message, remedy };
}

/** Two settings that choose prompts would each undo what the other does. */
function difficultyFault({
  adarft_target_reward,
  dynamic_sampling,
  greso_exploration,
}: TrainConfig): ConfigFault | null {
  if (adarft_target_reward === null || (dynamic_sampling === 0 && greso_exploration === null)) return null;
  const [field, value] = dynamic_sampling > 0 ? ['dynamic_sampling', 0] : ['greso_exploration', null];
  return {
    field: 'adarft_target_reward',
    message: `expected ${field} ${value} with adarft_target_reward: both choose prompts`,
    remedy: `Set ${field} to ${value}, or remove adarft_target_reward.`,
  };
}

/** The configuration with the weights in force: its own, otherwise the task's. */
export function withTaskWeights(config: TrainConfig, { rewardWeights }: Pick<TaskFacts, 'rewardWeights'>): TrainConfig {
  return { ...config, reward_weights: config.reward_weights ?? (rewardWeights === null ? null : [...rewardWeights]) };
}

type TaskWeights = Pick<TaskFacts, 'name' | 'rewardNames' | 'rewardWeights'>;

/** Rejects settings that contradict the task's rewards and weights, which `combinationFault` doesn't know. */
export function checkTaskWeights(config: TrainConfig, task: TaskWeights): void {
  const weighted = withTaskWeights(config, task);
  const fault =
    weightsFault(config, task) ??
    (isReinforcement(config.method) ? (weightSizesFault(weighted) ?? maxRlFault(weighted)) : null);
  if (fault === null) return;
  throw inputError('BAD_CONFIG', `task ${task.name}: ${fault.message}`, fault.remedy ?? undefined);
}

/** Rewards are weighted in float32: beyond it a weight is an infinity, and one too small for it would count as 0. */
function weightSizesFault({ reward_weights }: TrainConfig): ConfigFault | null {
  const strange = reward_weights?.find((weight) => !fitsFloat32(weight) || (weight !== 0 && Math.fround(weight) === 0));
  if (strange === undefined) return null;
  const message = `expected reward_weights that are 0 or from 1e-45 to 3.4e38 in size, as float32 has them, got ${strange}`;
  return { field: 'reward_weights', message, remedy: null };
}

/** A weight for each reward, and not all of them 0; null: they fit. */
export function weightsFault(config: TrainConfig, task: TaskWeights): ConfigFault | null {
  const { rewardNames: names, rewardWeights } = task;
  const own = rewardWeights ?? names.map(() => 1);
  const weights = config.reward_weights ?? own;
  const field = 'reward_weights';
  const remedy = `Write reward_weights: [${own.map((weight) => weight || 1).join(', ')}] for ${names.join(', ')} in this order, or leave it out: ${rewardWeights === null ? 'each weighs 1' : `the task's own are ${own.join(', ')}`}.`;
  if (weights.length !== names.length) {
    const message = `expected reward_weights to have ${names.length === 1 ? '1 number' : `${names.length} numbers`}, one for each reward (${names.join(', ')}), got ${weights.length}`;
    return { field, message, remedy };
  }
  if (weights.some((weight) => weight !== 0)) return null;
  const message = `expected at least one of the reward weights (${names.join(', ')}) to be other than 0: every reward would be 0`;
  return { field, message, remedy };
}

/** A mean of rewards of both signs can be close to 0, and dividing by it isn't MaxRL. */
function maxRlFault({ scale_rewards, reward_weights }: TrainConfig): ConfigFault | null {
  const negative = reward_weights?.find((weight) => weight < 0);
  if (scale_rewards !== 'mean' || negative === undefined) return null;
  return {
    field: 'scale_rewards',
    message: `expected no negative reward_weights with scale_rewards mean, got ${negative}`,
    remedy: 'Use scale_rewards group, batch or none, or weights of at least 0.',
  };
}

function groupFault(config: TrainConfig): ConfigFault | null {
  const generated =
    config.per_device_train_batch_size * (config.steps_per_generation ?? config.gradient_accumulation_steps);
  const size = trainedGroupSize(config);
  if (size > config.num_generations) {
    const message = `expected pods_update_size (${size}) to be at most num_generations (${config.num_generations})`;
    return { field: 'pods_update_size', message, remedy: null };
  }
  if (generated % size === 0) return null;
  const group = config.pods_update_size === null ? 'num_generations' : 'pods_update_size';
  return {
    field: 'per_device_train_batch_size',
    message: `expected per_device_train_batch_size x steps_per_generation (${generated} completions) to be a multiple of ${group} (${size})`,
    remedy: `Use ${Math.ceil(generated / size) * size} completions, or a group that divides ${generated}.`,
  };
}

/** An unbiased gradient of the diversity needs samples from the same distribution as the log-probabilities. */
function polychromicFault(config: TrainConfig): ConfigFault | null {
  const { method, polychromic_set_size: size, num_generations: group } = config;
  if (method === 'polychromic-grpo' && config.dynamic_sampling > 0)
    return notDead('dynamic_sampling', `dynamic_sampling 0 with polychromic-grpo, got ${config.dynamic_sampling}`);
  if (method === 'polychromic-grpo' && config.greso_exploration !== null)
    return notDead('greso_exploration', `no greso_exploration with polychromic-grpo, got ${config.greso_exploration}`);
  if (method === 'polychromic-grpo' && config.pods_update_size !== null) {
    const message = `expected no pods_update_size with polychromic-grpo, got ${config.pods_update_size}`;
    return { field: 'pods_update_size', message, remedy: 'Remove it: sets are drawn from all completions of a group.' };
  }
  if (method === 'polychromic-grpo' && config.multi_objective_aggregation === 'normalize_then_sum') {
    const message =
      'expected multi_objective_aggregation sum_then_normalize with polychromic-grpo, got normalize_then_sum';
    const remedy = 'Set it to sum_then_normalize: sets are scored by the weighted sum of the rewards.';
    return { field: 'multi_objective_aggregation', message, remedy };
  }
  if (method === 'polychromic-grpo' && size > group) {
    const message = `expected polychromic_set_size (${size}) to be at most num_generations (${group})`;
    return { field: 'polychromic_set_size', message, remedy: null };
  }
  if (method !== 'polychromic-sft') return null;
  const plain = { top_p: 1, top_k: 0, min_p: null, repetition_penalty: 1 } as const;
  const filters = (Object.keys(plain) as (keyof typeof plain)[]).filter((name) => config[name] !== plain[name]);
  const [first] = filters;
  if (first === undefined) return null;
  return {
    field: first,
    message: `expected no sampling filter with polychromic-sft, got ${filters.map((name) => `${name} ${config[name]}`).join(', ')}`,
    remedy: 'Remove it: the gradient of the diversity would be biased.',
  };
}

function notDead(field: keyof TrainConfig, expected: string): ConfigFault {
  const remedy = 'Remove it: a group of equal rewards still has a training signal there, its diversity.';
  return { field, message: `expected ${expected}`, remedy };
}
