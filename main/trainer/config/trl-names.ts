/**
 * What GRPOConfig of TRL 1.16 has and a configuration here has not, by name: set in another way, or declined, each with
 * the reason, so that a configuration that was written for TRL is refused in words that help. TrainingArguments of
 * transformers 5.24, which it extends, are included.
 */

/** Settings that TRL knows by two names, of which the second is the one here; a configuration may have the other. */
export const RENAMED = {
  vllm_importance_sampling_cap: 'vllm_importance_sampling_clip_max',
  activation_checkpointing: 'gradient_checkpointing',
} as const;

/** TRL lets them be chosen, here they have one value; a configuration may say it. */
export const FIXED: Readonly<Record<string, { readonly value: unknown; readonly why: string }>> = {
  num_generations_eval: {
    value: 1,
    why: 'a held-out evaluation is greedy, with one completion per record; `braid compare` samples several',
  },
  vllm_importance_sampling_mode: { value: 'token_truncate', why: "each token's ratio is truncated" },
};

/** There is such a setting, in another form. */
export const SET_ELSEWHERE: Readonly<Record<string, string>> = {
  ...each('set steps_per_generation; a generation is per_device_train_batch_size × steps_per_generation completions', [
    'generation_batch_size',
  ]),
  ...each('set compute_dtype', ['bf16', 'fp16', 'tf32']),
  ...each('set base_weights', ['model_init_kwargs']),
  ...each('set engine, to sample on a server', ['use_vllm', 'vllm_mode']),
  ...each('set sample_steps; completions are stored with the run', ['log_completions']),
  ...each('set eval_steps', ['eval_strategy', 'eval_on_start', 'do_eval']),
  ...each('set save_steps', ['save_strategy']),
  ...each('set threads and backend', ['use_cpu']),
  ...each('set seed', ['data_seed']),
  ...each('name the run on the form, or with --experiment', ['run_name']),
  ...each('use braid train --resume', ['resume_from_checkpoint']),
  ...each("set the task's max_turns", ['max_tool_calling_iterations']),
};

const VLLM = 'samples come from Braid itself, or from an engine that has settings of its own';
const DISTRIBUTED = 'a run is one process on one device';
const HUB = 'nothing is uploaded';
const LOGGING = 'every step is logged, and every run is kept in the history';
const PYTORCH = 'it is a setting of PyTorch or transformers, which do not compute here';
const EVALUATION = 'a held-out evaluation has one form, so that runs are comparable';
const DATA = 'records are encoded once and kept in memory';
const SAVING = 'checkpoints are complete, and a resumed run continues exactly';

export const DECLINED: Readonly<Record<string, string>> = {
  ...each('runs have a folder of their own in the workspace', ['output_dir']),
  ...each('nothing of a model folder is ever executed', ['trust_remote_code']),
  ...each('mixture-of-experts models cannot be trained', ['router_aux_loss_coef']),
  ...each('models are run without dropout', ['disable_dropout', 'neftune_noise_alpha']),
  ...each('logits are always float32', ['cast_lm_head_to_fp32']),
  ...each('sampling has the fields temperature, top_p, top_k, min_p, repetition_penalty and stop_strings', [
    'generation_kwargs',
  ]),
  ...each('the optimiser is AdamW', ['optim', 'optim_args', 'optim_target_modules']),
  ...each('schedules have no further settings', ['lr_scheduler_kwargs']),
  ...each('labels are not smoothed: there are none in reinforcement learning', ['label_smoothing_factor']),
  ...each('the ratio has no lower bound', ['vllm_importance_sampling_clip_min']),
  ...each('micro-batches are run in parts where memory requires it', ['auto_find_batch_size']),
  ...each('rows are packed, or padded to what the kernels take', ['pad_to_multiple_of']),
  ...each(VLLM, [
    ...['vllm_model_impl', 'vllm_enable_sleep_mode', 'vllm_structured_outputs_regex', 'vllm_server_base_url'],
    ...['vllm_server_host', 'vllm_server_port', 'vllm_server_timeout', 'vllm_group_port'],
    ...['vllm_gpu_memory_utilization', 'vllm_max_model_length', 'vllm_tensor_parallel_size'],
  ]),
  ...each(DISTRIBUTED, [
    ...['ds3_gather_for_generation', 'average_tokens_across_devices', 'log_on_each_node', 'save_on_each_node'],
    ...['accelerator_config', 'parallelism_config', 'ddp_find_unused_parameters', 'ddp_bucket_cap_mb'],
    ...['ddp_broadcast_buffers', 'ddp_static_graph', 'ddp_backend', 'ddp_timeout', 'fsdp', 'fsdp_config'],
    ...['deepspeed', 'local_rank'],
  ]),
  ...each(HUB, [
    ...['log_completions_hub_repo', 'push_to_hub', 'hub_token', 'hub_private_repo', 'hub_model_id'],
    ...['hub_strategy', 'hub_always_push', 'hub_revision'],
    ...['trackio_space_id', 'trackio_bucket_id', 'trackio_static_space_id'],
  ]),
  ...each(LOGGING, [
    ...['logging_strategy', 'logging_steps', 'logging_first_step', 'logging_nan_inf_filter', 'log_level'],
    ...['log_level_replica', 'disable_tqdm', 'include_num_input_tokens_seen', 'log_multimodal'],
    ...['num_completions_to_print', 'log_unique_prompts', 'skip_memory_metrics'],
  ]),
  ...each(PYTORCH, [
    ...['cache_implementation', 'use_transformers_continuous_batching', 'transformers_continuous_batching_config'],
    ...['use_transformers_paged', 'bf16_full_eval', 'fp16_full_eval', 'gradient_checkpointing_kwargs'],
    ...[
      'activation_checkpointing_kwargs',
      'torch_compile',
      'torch_compile_backend',
      'torch_compile_mode',
      'use_liger_kernel',
      'liger_kernel_config',
    ],
    ...['use_cache', 'torch_empty_cache_steps', 'full_determinism', 'debug'],
  ]),
  ...each(EVALUATION, [
    ...['eval_delay', 'per_device_eval_batch_size', 'prediction_loss_only', 'eval_do_concat_batches'],
    ...['eval_use_gather_object', 'eval_accumulation_steps', 'include_for_metrics', 'batch_eval_metrics'],
    ...['do_train', 'do_predict'],
  ]),
  ...each(SAVING, [
    ...['save_only_model', 'enable_jit_checkpoint', 'load_best_model_at_end', 'metric_for_best_model'],
    ...['greater_is_better', 'ignore_data_skip', 'restore_callback_states_from_checkpoint'],
  ]),
  ...each(DATA, [
    ...['remove_unused_columns', 'dataloader_drop_last', 'dataloader_num_workers', 'dataloader_pin_memory'],
    ...['dataloader_persistent_workers', 'dataloader_prefetch_factor', 'dataloader_multiprocessing_context'],
    ...['dataloader_in_order', 'label_names', 'train_sampling_strategy', 'length_column_name'],
  ]),
};

/** Why a configuration can't have this field of TRL's; undefined: TRL has no such field, or it may. */
export function whyNotHere(field: string): string | undefined {
  const own = (of: Readonly<Record<string, string>>) => (Object.hasOwn(of, field) ? of[field] : undefined);
  const fixed = Object.hasOwn(FIXED, field) ? FIXED[field] : undefined;
  if (fixed !== undefined) return `it would always be ${fixed.value}, as ${fixed.why}`;
  return own(SET_ELSEWHERE) ?? own(DECLINED);
}

/** Whether a configuration may have a field by this name of TRL's, though it isn't a field here. */
export function isReadName(field: string): boolean {
  return field === BF16 || Object.hasOwn(RENAMED, field) || Object.hasOwn(FIXED, field);
}

/** TRL's switch for compute_dtype. */
const BF16 = 'bf16';

/** TRL's max_steps by which num_train_epochs holds, and its default for that. */
const BY_EPOCHS = -1;
const EPOCHS = 3;

/** Fields under the names that they have here; those that say what is always so are left out. */
export function withNamesHere(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const fields = { ...given };
  for (const [older, name] of Object.entries(RENAMED)) {
    if (!Object.hasOwn(fields, older)) continue;
    fields[name] ??= fields[older];
    delete fields[older];
  }
  if (fields.max_steps === BY_EPOCHS) {
    delete fields.max_steps;
    fields.num_train_epochs ??= EPOCHS;
  }
  if (typeof fields[BF16] === 'boolean') {
    fields.compute_dtype ??= fields[BF16] ? 'bfloat16' : 'float32';
    delete fields[BF16];
  }
  // TRL's older default, and vLLM's, for all tokens.
  if (fields.top_k === null || fields.top_k === -1) fields.top_k = 0;
  if (typeof fields.scale_rewards === 'boolean') fields.scale_rewards = fields.scale_rewards ? 'group' : 'none';
  for (const [name, fixed] of Object.entries(FIXED)) if (fields[name] === fixed.value) delete fields[name];
  return fields;
}

/** The same for each of these names. */
export function each<T>(value: T, names: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(names.map((name) => [name, value]));
}
