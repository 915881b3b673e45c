/**
 * Names of settings in other programs than TRL's GRPOConfig: PEFT's LoraConfig, TRL's other configurations and its older
 * fields, verl, OpenRLHF, LLaMA-Factory, Axolotl, Unsloth, ms-swift, torchtune, NeMo-RL, prime-rl. A configuration that
 * was written for one of them is refused with the field that is meant, or with the reason why there is none.
 */
import type { TrainConfig } from './schema.ts';
import { each } from './trl-names.ts';

/** A field by its names there. */
export const OTHER_NAMES: Readonly<Record<string, keyof TrainConfig>> = {
  ...each('model', ['model_name_or_path', 'model_name', 'base_model', 'pretrain', 'model_path']),
  ...each('from_checkpoint', ['checkpoint_path', 'adapter_name_or_path', 'lora_adapter_path']),
  ...each('dataset', ['train_files', 'train_file', 'prompt_data', 'dataset_path']),
  ...each('eval_dataset', ['val_files', 'validation_file']),
  ...each('method', ['stage', 'rl', 'rlhf_type']),
  ...each('seed', ['random_state', 'random_seed']),
  ...each('lora_r', ['r', 'rank', 'lora_rank']),
  ...each('lora_target_modules', ['target_modules', 'lora_target', 'lora_target_linear']),
  ...each('use_peft', ['finetuning_type', 'adapter', 'train_type', 'tuner_type']),
  ...each('learning_rate', ['lr', 'actor_learning_rate']),
  ...each('lr_scheduler_type', ['lr_scheduler', 'scheduler']),
  ...each('max_grad_norm', ['grad_clip', 'clip_grad', 'clip_grad_norm', 'max_norm', 'gradient_clipping']),
  ...each('weight_decay', ['l2']),
  ...each('gradient_checkpointing', [
    ...['use_gradient_checkpointing', 'enable_gradient_checkpointing', 'enable_activation_checkpointing'],
  ]),
  ...each('max_steps', ['steps', 'total_training_steps', 'total_steps', 'num_train_steps', 'max_num_steps']),
  ...each('num_train_epochs', ['epochs', 'num_epochs', 'total_epochs', 'num_episodes']),
  ...each('per_device_train_batch_size', [
    ...['batch_size', 'micro_batch_size', 'micro_train_batch_size'],
    ...['ppo_micro_batch_size_per_gpu', 'train_micro_batch_size_per_gpu'],
  ]),
  ...each('num_generations', [
    ...['n_generations', 'group_size', 'n', 'rollout_n', 'n_samples_per_prompt', 'num_samples_per_prompt'],
    ...['num_return_sequences', 'num_generations_per_prompt', 'rollouts_per_example', 'grpo_samples'],
  ]),
  ...each('num_iterations', ['ppo_epochs', 'mu']),
  ...each('max_completion_length', [
    ...['max_response_length', 'response_length', 'max_new_tokens', 'generate_max_len', 'max_tokens'],
    'max_generated_tokens',
  ]),
  ...each('beta', ['kl_coeff', 'kl_coef', 'kl_beta', 'kl_loss_coef', 'init_kl_coef', 'kl_penalty_coef']),
  ...each('epsilon', ['clip_ratio', 'cliprange', 'clip_range', 'eps_clip', 'epsilon_low', 'clip_ratio_low']),
  ...each('epsilon_high', ['clip_ratio_high']),
  ...each('delta', ['clip_ratio_c', 'dual_clip']),
  ...each('entropy_coef', ['entropy_coeff', 'ent_coef', 'entropy_loss_coef']),
  ...each('loss_type', ['loss_agg_mode']),
  ...each('scale_rewards', ['norm_adv_by_std_in_grpo']),
  ...each('save_steps', ['save_freq', 'save_period', 'saves_per_epoch']),
  ...each('eval_steps', ['test_freq', 'val_period', 'evals_per_epoch']),
  ...each('system_prompt', ['system', 'default_system']),
  ...each('report_to', ['logger', 'use_wandb', 'use_tensorboard', 'use_swanlab']),
  ...each('project', ['wandb_project', 'project_name']),
  ...each('backend', ['device']),
  ...each('polychromic_lambda', ['diversity_weight']),
  ...each('dynamic_sampling', [
    ...['use_dynamic_sampling', 'dynamic_sample', 'max_resample_times', 'max_num_gen_batches'],
    ...['dynamic_sampling_max_gen_batches', 'dynamic_filtering'],
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
  ...each('set adam_beta1 and adam_beta2', ['adam_betas']),
  ...each('set epsilon and epsilon_high', ['eps_clip_low_high']),
  ...each('set num_iterations for passes over a batch of completions, num_train_epochs for those over the records', [
    'max_epochs',
  ]),
  ...each('GRPO has neither a critic nor a discount', [
    'critic_learning_rate',
    'gamma',
    'lambd',
    'lam',
    'normalize_reward',
  ]),
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
    ...['reward_model_path', 'remote_rm_url', 'custom_reward_function', 'external_plugins'],
  ]),
  ...each("preferences aren't trained on: set method to grpo or sft", ['pref_beta', 'pref_loss']),
  ...each("columns become a task's fields by `braid dataset import --map`, and its prompt is made of them", [
    ...['input_key', 'label_key', 'output_key', 'prompt_key', 'input_template', 'apply_chat_template'],
    ...['dataset_prompt_column', 'reward_fn_key'],
  ]),
  ...each('import its records as a dataset, and set dataset', [
    ...['dataset_name', 'dataset_config', 'dataset_train_split', 'dataset_test_split', 'dataset_streaming', 'datasets'],
    ...['dataset_text_field', 'dataset_kwargs', 'dataset_num_proc', 'dataset_configs', 'dataset_prepared_path'],
    ...['max_samples', 'preprocessing_num_workers', 'overwrite_cache', 'load_from_cache_file'],
    ...['skip_prepare_dataset', 'split_dataset_ratio'],
  ]),
  ...each('set eval_dataset', ['val_set_size']),
  ...each("only a record's target is trained on", ['completion_only_loss', 'train_on_inputs', 'train_on_prompt']),
  ...each("a model's own chat template and tokens are used", [
    ...['template', 'chat_template', 'chat_template_path', 'eos_token', 'pad_token', 'special_tokens'],
  ]),
  ...each('the folder of a model is one revision of it', ['model_revision', 'revision']),
  ...each('the folder of a model says it', ['model_type', 'tokenizer_type', 'tokenizer', 'use_hf', 'use_modelscope']),
  ...each('runs have a folder of their own in the workspace', [
    ...['overwrite_output_dir', 'save_path', 'ckpt_path', 'default_local_dir', 'checkpoint_dir', 'plot_loss'],
  ]),
  ...each('name the run on the form, or with --experiment', ['wandb_name', 'wandb_run_name', 'experiment_name']),
  ...each("report_to uses the tracker's own settings", ['wandb_entity', 'wandb_watch', 'wandb_log_model']),
  ...each('a run is one process on one device', [
    ...['n_gpus_per_node', 'nnodes', 'zero_stage', 'colocate_all_models', 'cluster'],
  ]),
  ...each('samples come from Braid itself, or from an engine that has settings of its own', [
    ...['vllm', 'vllm_device', 'gpu_memory_utilization', 'max_lora_rank', 'micro_rollout_batch_size', 'sleep_level'],
  ]),
  ...each('it is a setting of PyTorch or transformers, which do not compute here', [
    ...['attn_implementation', 'flash_attn', 'flash_attention', 'activation_offloading', 'fast_inference'],
  ]),
  ...each('fields are not nested: write each of its own by itself', [
    ...['actor_rollout_ref', 'actor', 'rollout', 'ref', 'critic', 'algorithm', 'data', 'trainer'],
    ...['trl', 'grpo', 'policy', 'loss_fn', 'loss', 'training', 'peft', 'checkpointing', 'env', 'orchestrator'],
  ]),
};

/** Why another program's setting isn't here, also under the groups of names that verl writes before it. */
export function whyNotElsewhere(field: string): string | undefined {
  const name = field.slice(field.lastIndexOf('.') + 1);
  return Object.hasOwn(NOT_HERE, name) ? NOT_HERE[name] : undefined;
}
