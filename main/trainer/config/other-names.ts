/**
 * Names of settings in other programs than TRL's GRPOConfig: PEFT's LoraConfig, TRL's other configurations and its older
 * fields, verl, OpenRLHF, LLaMA-Factory, Axolotl, Unsloth. A configuration that was written for one of them is refused
 * with the field that is meant, or with the reason why there is none.
 */
import type { TrainConfig } from './schema.ts';
import { each } from './trl-names.ts';

/** A field by its names there. */
export const OTHER_NAMES: Readonly<Record<string, keyof TrainConfig>> = {
  ...each('model', ['model_name_or_path', 'model_name', 'base_model', 'pretrain', 'model_path']),
  ...each('from_checkpoint', ['checkpoint_path', 'adapter_name_or_path', 'lora_adapter_path']),
  ...each('dataset', ['train_files', 'train_file', 'prompt_data', 'dataset_path']),
  ...each('eval_dataset', ['val_files', 'validation_file']),
  ...each('method', ['stage', 'rl']),
  ...each('seed', ['random_state', 'random_seed']),
  ...each('lora_r', ['r', 'rank', 'lora_rank']),
  ...each('lora_target_modules', ['target_modules', 'lora_target']),
  ...each('use_peft', ['finetuning_type', 'adapter']),
  ...each('learning_rate', ['lr', 'actor_learning_rate']),
  ...each('lr_scheduler_type', ['lr_scheduler', 'scheduler']),
  ...each('max_grad_norm', ['grad_clip', 'clip_grad', 'max_norm', 'gradient_clipping']),
  ...each('gradient_checkpointing', ['use_gradient_checkpointing', 'enable_gradient_checkpointing']),
  ...each('max_steps', ['steps', 'total_training_steps', 'total_steps', 'num_train_steps']),
  ...each('num_train_epochs', ['epochs', 'num_epochs', 'total_epochs', 'max_epochs']),
  ...each('per_device_train_batch_size', [
    ...['batch_size', 'micro_batch_size', 'micro_train_batch_size'],
    ...['ppo_micro_batch_size_per_gpu', 'train_micro_batch_size_per_gpu'],
  ]),
  ...each('num_generations', [
    ...['n_generations', 'group_size', 'n', 'rollout_n', 'n_samples_per_prompt', 'num_samples_per_prompt'],
    'num_return_sequences',
  ]),
  ...each('num_iterations', ['ppo_epochs', 'mu']),
  ...each('max_completion_length', [
    ...['max_response_length', 'response_length', 'max_new_tokens', 'generate_max_len', 'max_tokens'],
  ]),
  ...each('beta', ['kl_coeff', 'kl_coef', 'kl_beta', 'kl_loss_coef', 'init_kl_coef', 'kl_penalty_coef']),
  ...each('epsilon', ['clip_ratio', 'cliprange', 'clip_range', 'eps_clip', 'epsilon_low', 'clip_ratio_low']),
  ...each('epsilon_high', ['clip_ratio_high']),
  ...each('delta', ['clip_ratio_c', 'dual_clip']),
  ...each('entropy_coef', ['entropy_coeff', 'ent_coef', 'entropy_loss_coef']),
  ...each('loss_type', ['loss_agg_mode']),
  ...each('scale_rewards', ['norm_adv_by_std_in_grpo']),
  ...each('save_steps', ['save_freq']),
  ...each('eval_steps', ['test_freq']),
  ...each('polychromic_lambda', ['diversity_weight']),
  ...each('dynamic_sampling', [
    ...['use_dynamic_sampling', 'dynamic_sample', 'max_resample_times', 'max_num_gen_batches'],
    'dynamic_sampling_max_gen_batches',
  ]),
};

const NOT_HERE: Readonly<Record<string, string>> = {
  ...each('models are run without dropout', ['lora_dropout', 'attention_dropout']),
  ...each('a new adapter is LoRA or rsLoRA on linear layers, of one rank', [
    ...['use_dora', 'use_qalora', 'use_bdlora', 'lora_bias', 'bias', 'modules_to_save', 'lora_modules_to_save'],
    ...['additional_target', 'target_parameters', 'lora_target_parameters', 'trainable_token_indices'],
    ...['layers_to_transform', 'layers_pattern', 'exclude_modules', 'rank_pattern', 'alpha_pattern'],
    ...['init_lora_weights', 'loftq_config', 'eva_config', 'corda_config', 'task_type', 'lora_task_type', 'peft_type'],
  ]),
  ...each('set base_weights', [
    ...['load_in_4bit', 'load_in_8bit', 'bnb_4bit_quant_type', 'bnb_4bit_compute_dtype', 'bnb_4bit_quant_storage'],
    ...['bnb_4bit_use_double_quant', 'use_bnb_nested_quant', 'quantization_bit', 'quantization_config'],
  ]),
  ...each('set base_weights, and compute_dtype', ['dtype', 'torch_dtype']),
  ...each('no text is cut: one that is longer than the context is named before the run begins', [
    ...['max_prompt_length', 'prompt_max_len', 'filter_overlong_prompts', 'truncation', 'truncation_mode'],
    ...['max_length', 'max_len', 'max_seq_length', 'max_seq_len', 'cutoff_len', 'sequence_len'],
  ]),
  ...each('rows are always packed, and none attends to another', [
    ...['packing', 'packing_strategy', 'eval_packing', 'sample_packing', 'padding_free', 'use_remove_padding'],
  ]),
  ...each('set warmup_steps, in steps', ['warmup_ratio', 'lr_warmup_ratio', 'lr_warmup_steps_ratio']),
  ...each('the optimiser is AdamW', ['optimizer']),
  ...each('set per_device_train_batch_size, gradient_accumulation_steps and steps_per_generation', [
    ...['train_batch_size', 'global_batch_size', 'rollout_batch_size', 'ppo_mini_batch_size', 'gen_batch_size'],
  ]),
  ...each('the KL term is in the loss wherever beta is above 0, by the estimator k3', [
    ...['use_kl_loss', 'use_kl_in_reward', 'kl_loss_type', 'kl_penalty', 'kl_estimator'],
  ]),
  ...each('advantages are relative to the group; set scale_rewards and loss_type', [
    ...['adv_estimator', 'advantage_estimator'],
  ]),
  ...each("rewards are the task's: set task", [
    ...['reward_funcs', 'reward_functions', 'reward_model', 'reward_model_name_or_path', 'reward_pretrain'],
    ...['reward_model_path', 'remote_rm_url', 'custom_reward_function'],
  ]),
  ...each('import its records as a dataset, and set dataset', [
    ...['dataset_name', 'dataset_config', 'dataset_train_split', 'dataset_test_split', 'dataset_streaming', 'datasets'],
    ...['dataset_text_field', 'dataset_kwargs', 'dataset_num_proc'],
  ]),
  ...each('set eval_dataset', ['val_set_size']),
  ...each("only a record's target is trained on", ['completion_only_loss', 'train_on_inputs', 'train_on_prompt']),
  ...each("a model's own chat template and tokens are used", [
    ...['template', 'chat_template', 'chat_template_path', 'eos_token', 'pad_token', 'special_tokens'],
  ]),
  ...each('the folder of a model is one revision of it', ['model_revision', 'revision']),
  ...each('it is a setting of PyTorch or transformers, which do not compute here', [
    ...['attn_implementation', 'flash_attn', 'flash_attention', 'activation_offloading', 'fast_inference'],
  ]),
  ...each('fields are not nested: write each of its own by itself', [
    ...['actor_rollout_ref', 'actor', 'rollout', 'ref', 'critic', 'algorithm', 'data', 'trainer'],
  ]),
};

/** Why another program's setting isn't here, also under the groups of names that verl writes before it. */
export function whyNotElsewhere(field: string): string | undefined {
  const name = field.slice(field.lastIndexOf('.') + 1);
  return Object.hasOwn(NOT_HERE, name) ? NOT_HERE[name] : undefined;
}
