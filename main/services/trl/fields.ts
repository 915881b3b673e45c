/** What becomes of each field of a configuration in TRL 1.13: carried over by name, in another form, or not at all. */
import { configFields, parseConfig, type TrainConfig } from '../../trainer/config/config.ts';

type Field = keyof TrainConfig;

/** These are in the folder in another form: in the prompts, the files, the adapter, the arguments below. */
const otherwiseFields = [
  'task',
  'method',
  'model',
  'from_checkpoint',
  'dataset',
  'eval_dataset',
  'base_weights',
  'compute_dtype',
  'use_peft',
  'lora_r',
  'lora_alpha',
  'lora_target_modules',
  'use_rslora',
  'max_completion_length',
  'num_train_epochs',
  'scale_rewards',
  'reward_weights',
  'reward_failure',
  'relevance_model',
  'system_prompt',
  'reply_prompt',
  'chat_template_kwargs',
  'gradient_checkpointing',
  'eval_steps',
  'eval_records',
] as const satisfies readonly Field[];

/** TRL has nothing like these; what it does instead. */
export const missingFields = {
  engine: 'TRL trains on the machine that it runs on',
  backend: 'TRL computes with PyTorch',
  threads: 'set OMP_NUM_THREADS',
  activation_memory_mb: 'TRL runs whole micro-batches: lower per_device_train_batch_size instead',
  warm_up_steps: 'TRL begins with GRPO: train an SFTTrainer first',
  warm_up_learning_rate: 'of warm_up_steps',
  warm_up_batch_size: 'of warm_up_steps',
  assistant_only_loss: 'of warm_up_steps',
  stop_strings: 'TRL ends completions at texts where vLLM samples only: set generation_kwargs to {"stop": […]} there',
  pods_update_size: 'TRL trains on all completions of a group',
  dynamic_sampling: 'TRL keeps groups whose rewards are all equal',
  greso_exploration: 'TRL skips no prompts',
  adarft_target_reward: 'TRL draws prompts at random',
  adarft_sensitivity: 'of adarft_target_reward',
  adarft_step_size: 'of adarft_target_reward',
  polychromic_lambda: 'of another method',
  polychromic_prompts: 'of another method',
  polychromic_sets: 'of another method',
  polychromic_set_size: 'of another method',
  kl_clamp: 'TRL does not bound the log ratio',
  allow_unwritable_words: "TRL doesn't compare targets with their tokens",
  sample_steps: 'TRL logs the completions of every step; the import keeps those of every sample_steps',
  pause_on_collapse: 'nothing watches the run',
  collapse_patience: 'nothing watches the run',
  logging_dir: 'set report_to; TRL writes TensorBoard events where its own logging folder is',
} as const satisfies Partial<Record<Field, string>>;

/** GRPOConfig has all others by the same name, with the same meaning. */
const sameFields = configFields.filter(
  (field) => !(otherwiseFields as readonly Field[]).includes(field) && !(field in missingFields),
);

/** Arguments of GRPOConfig. */
export type TrlArguments = Readonly<Record<string, unknown>>;

/** The arguments of GRPOConfig; `weights`: those of the reward functions. */
export function trlArguments(
  config: TrainConfig,
  maxCompletionLength: number,
  weights: readonly number[] | null,
): TrlArguments {
  return {
    ...Object.fromEntries(sameFields.map((field) => [field, config[field]])),
    max_completion_length: maxCompletionLength,
    reward_weights: weights,
    // "mean" is listed as not carried over.
    scale_rewards: config.scale_rewards === 'mean' ? 'group' : config.scale_rewards,
    gradient_checkpointing: config.gradient_checkpointing ?? false,
    // As Braid truncates: each token's ratio.
    vllm_importance_sampling_mode: 'token_truncate',
  };
}

/** A field whose value has no effect in TRL, and what happens instead. */
export interface NotCarried {
  readonly field: Field;
  readonly value: unknown;
  readonly instead: string;
}

/** What a run of TRL was trained with: fields that had no effect there have their defaults. */
export function trainedByTrl(config: TrainConfig): TrainConfig {
  const defaults = parseConfig({});
  // The import keeps completions by it.
  const lost = (Object.keys(missingFields) as (keyof typeof missingFields)[]).filter((name) => name !== 'sample_steps');
  const unset = Object.fromEntries(lost.map((name) => [name, defaults[name]]));
  return { ...config, ...unset, scale_rewards: config.scale_rewards === 'mean' ? 'group' : config.scale_rewards };
}

/** The fields that are set to something else than their default and that TRL doesn't have. */
export function notCarriedOver(config: TrainConfig): NotCarried[] {
  const defaults = parseConfig({});
  const lost = configFields.flatMap((field): NotCarried[] => {
    const instead = (missingFields as Partial<Record<Field, string>>)[field];
    const isSet = JSON.stringify(config[field]) !== JSON.stringify(defaults[field]);
    return instead === undefined || !isSet ? [] : [{ field, value: config[field], instead }];
  });
  if (config.scale_rewards !== 'mean') return lost;
  const instead = "TRL divides by the group's standard deviation (scale_rewards: group)";
  return [...lost, { field: 'scale_rewards', value: 'mean', instead }];
}
