/**
 * The whole configuration of a run: one flat, readonly record. Every field has a default, a unit and one
 * line of documentation; the run record, YAML presets, command-line flags and forms derive from this table.
 * Names are those of TRL's GRPOConfig, SFTConfig and ModelConfig wherever TRL has the setting.
 */
import { z } from 'zod';
import { templateKwargs } from '../../model/chat-settings.ts';
import { hasPost } from '../../tasks/reply/prompt.ts';
import type { ComputeDtype } from '../../tensor/compute-dtype.ts';
import { QUANTISED } from '../../tensor/quantised.ts';
import { BACKEND_SETTINGS } from './backend-names.ts';

/** What a form or a help page needs besides the type. */
export interface FieldMeta {
  readonly unit?: string;
  readonly doc: string;
  /** Names a file or a folder: what a page gives is held to the places that it may read. */
  readonly path?: boolean;
}

const positive = z.number().positive();
const nonNegative = z.number().nonnegative();
const count = z.int().min(1);
const share = z.number().min(0).max(1);
/** At 1 Adam's bias correction, 1 − βᵗ, would be 0, and every weight NaN. */
const decay = z.number().min(0).lt(1);

/** Trackers that a run can be sent to, by their names in transformers' report_to. */
export const TRACKERS = ['trackio', 'wandb', 'mlflow'] as const;

export type TrackerName = (typeof TRACKERS)[number];

/** By these, `lora_target_modules` means all linear layers of a model. */
export const ALL_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
/** What it may name. */
export const LORA_TARGETS = [
  ...ALL_TARGETS,
  // Of LFM2 and Qwen3.5.
  ...(['in_proj', 'out_proj', 'w1', 'w2', 'w3'] as const),
  ...(['in_proj_qkv', 'in_proj_z', 'in_proj_a', 'in_proj_b'] as const),
] as const;
/** What `compute_dtype` may be. */
export const COMPUTE_DTYPES = ['float32', 'bfloat16'] as const satisfies readonly ComputeDtype[];
/** What `base_weights` may be. */
export const BASE_WEIGHTS = ['auto', 'float32', 'bfloat16', ...QUANTISED] as const;

export const trainConfigSchema = z.strictObject({
  task: z.string().min(1).max(4096).default('interleave').meta({
    path: true,
    doc: 'How records are prompted and scored: interleave, reply, or the name or folder of a task.',
  }),
  method: z.enum(['grpo', 'sft', 'polychromic-grpo', 'polychromic-sft']).default('grpo').meta({
    doc: 'grpo: reinforcement learning on sampled groups; sft: supervised fine-tuning on the targets; polychromic-*: the same with diversity in the objective.',
  }),
  model: z.string().min(1).default('tiny').meta({ path: true, doc: 'A model name or a Hugging Face folder.' }),
  from_checkpoint: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .meta({ path: true, doc: 'Start from the weights of this checkpoint (a new stage).' }),
  dataset: z
    .string()
    .min(1)
    .default('datasets/10words.jsonl')
    .meta({ path: true, doc: 'The training dataset: a JSONL file.' }),
  eval_dataset: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .meta({ path: true, doc: 'Held-out records (JSONL); null: the .test.jsonl beside the dataset, if there.' }),
  engine: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'expected the name of an engine')
    .nullable()
    .default(null)
    .meta({
      doc: 'The engine (Settings, Engines) that samples and trains; null: this machine.',
    }),
  seed: z.int().min(0).default(42).meta({ doc: 'Decides shuffling, sampling and initial adapters.' }),
  backend: z.enum(BACKEND_SETTINGS).default('auto').meta({ doc: 'Tensor backend; auto: the best one that works.' }),
  threads: z.int().min(0).default(0).meta({ unit: 'threads', doc: 'CPU threads; 0: all cores.' }),

  base_weights: z.enum(BASE_WEIGHTS).default('auto').meta({
    doc: 'Precision of frozen weights under LoRA: bfloat16 in half the memory; int8 and nf4 (linear layers in blocks of 64) in less on webgpu only; auto: bfloat16 if float32 does not fit.',
  }),
  compute_dtype: z.enum(COMPUTE_DTYPES).default('float32').meta({
    doc: 'What products of weights are computed in, with float32 sums (TRL: bf16); bfloat16: native on AVX-512 BF16, webgpu on float16 matrix units under LoRA, attention with them; base_weights auto is bfloat16 then.',
  }),
  use_peft: z.boolean().default(true).meta({ doc: 'Train LoRA adapters (true) or all weights (false).' }),
  lora_r: count.default(16).meta({ doc: 'LoRA rank.' }),
  lora_alpha: positive
    .default(32)
    .meta({ doc: 'LoRA scale: adapters are multiplied by alpha / r (rsLoRA: alpha / sqrt(r)).' }),
  lora_target_modules: z
    .array(z.enum(LORA_TARGETS))
    .min(1)
    .default([...ALL_TARGETS])
    .meta({
      doc: 'The linear layers that get an adapter, by their names in PEFT; these seven: all that the model has.',
    }),
  use_rslora: z.boolean().default(false).meta({ doc: 'Rank-stabilised LoRA.' }),

  max_steps: count
    .default(100)
    .meta({ unit: 'steps', doc: 'Optimiser steps of the run, after those of warm_up_steps.' }),
  num_train_epochs: positive.nullable().default(null).meta({
    unit: 'epochs',
    doc: 'Passes over the training records, from which max_steps is computed; null: max_steps holds.',
  }),
  warm_up_steps: z.int().min(0).default(0).meta({
    unit: 'steps',
    doc: "grpo: supervised steps on the records' targets before those of max_steps; then a fresh optimiser, and with beta the warmed-up model as reference. 0: none. The learning rate's own is warmup_steps.",
  }),
  warm_up_learning_rate: positive.nullable().default(null).meta({
    doc: 'warm_up_steps: their peak learning rate, with the schedule of lr_scheduler_type over them; null: 5e-4 with LoRA, 5e-5 for all weights.',
  }),
  warm_up_batch_size: count.default(16).meta({ unit: 'records', doc: 'warm_up_steps: records in one step.' }),
  assistant_only_loss: z.boolean().default(false).meta({
    doc: 'Supervised steps on conversations: train every turn of the assistant, not only the last.',
  }),
  per_device_train_batch_size: count
    .default(128)
    .meta({ unit: 'completions', doc: 'Completions (sft: records) in one micro-batch; those that are trained on.' }),
  gradient_accumulation_steps: count
    .default(1)
    .meta({ unit: 'micro-batches', doc: 'Micro-batches summed into one optimiser step.' }),
  learning_rate: positive.default(1e-6).meta({ doc: 'Peak learning rate of AdamW.' }),
  lr_scheduler_type: z
    .enum(['linear', 'cosine', 'constant', 'constant_with_warmup'])
    .default('linear')
    .meta({ doc: 'Learning rate schedule.' }),
  warmup_steps: z
    .int()
    .min(0)
    .default(0)
    .meta({ unit: 'steps', doc: 'Steps over which the learning rate rises from 0.' }),
  adam_beta1: decay.default(0.9).meta({ doc: 'AdamW: decay of the mean of gradients.' }),
  adam_beta2: decay.default(0.999).meta({ doc: 'AdamW: decay of the mean of squared gradients.' }),
  adam_epsilon: positive.default(1e-8).meta({ doc: 'AdamW: added to the denominator.' }),
  weight_decay: nonNegative.default(0).meta({ doc: 'AdamW: decoupled weight decay.' }),
  max_grad_norm: nonNegative.default(1).meta({ doc: 'Gradients are clipped to this global norm; 0: never.' }),

  num_generations: z
    .int()
    .min(2)
    .default(8)
    .meta({ unit: 'completions', doc: 'Completions sampled per prompt: the group size.' }),
  pods_update_size: z.int().min(2).nullable().default(null).meta({
    unit: 'completions',
    doc: 'Train on so many completions of each group, those whose rewards vary most (PODS); null: on all.',
  }),
  num_iterations: count.default(1).meta({ unit: 'iterations', doc: 'Passes over each batch of completions (mu).' }),
  steps_per_generation: count
    .nullable()
    .default(null)
    .meta({ unit: 'micro-batches', doc: 'Micro-batches per generation; null: gradient_accumulation_steps.' }),
  dynamic_sampling: z.int().min(0).max(100).default(0).meta({
    unit: 'rounds',
    doc: 'Sample other prompts in place of groups whose rewards are all equal (DAPO), at most so many times; 0: off.',
  }),
  greso_exploration: z.number().gt(0).lt(1).nullable().default(null).meta({
    doc: 'Skip a prompt after z dead groups in a row with probability 1 - p^z (GRESO), where p is this number; null: never.',
  }),
  adarft_target_reward: z.number().nullable().default(null).meta({
    doc: 'Choose prompts by a target length of their reference completions, which rises while the mean reward is above this and otherwise falls (AdaRFT: beta); null: off.',
  }),
  adarft_sensitivity: positive.default(2).meta({
    doc: 'adarft_target_reward: how strongly the target length reacts to the reward (AdaRFT: alpha).',
  }),
  adarft_step_size: positive.default(2).meta({
    unit: 'words',
    doc: 'adarft_target_reward: the most by which the target length changes after a generation (AdaRFT: eta).',
  }),
  max_completion_length: count.nullable().default(null).meta({
    unit: 'tokens',
    doc: 'Maximum tokens of a completion; null: from the longest target of the dataset, or from a few completions.',
  }),
  temperature: positive.default(1).meta({ doc: 'Sampling temperature; log-probabilities use it too.' }),
  top_p: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .meta({ doc: 'Nucleus sampling: keep the most likely tokens up to this total probability.' }),
  top_k: z.int().min(0).default(0).meta({ unit: 'tokens', doc: 'Keep the k most likely tokens; 0: all.' }),
  min_p: share
    .nullable()
    .default(null)
    .meta({ doc: 'Drop tokens below this share of the most likely one; null: off.' }),
  stop_strings: z.array(z.string().min(1).max(1000)).max(16).nullable().default(null).meta({
    doc: 'Texts that end a completion; null: those of the checkpoint it starts from; empty: none.',
  }),
  repetition_penalty: positive.default(1).meta({ doc: 'Divides the logits of tokens seen before; 1: off.' }),

  beta: nonNegative.default(0).meta({ doc: 'KL coefficient; 0: no reference model.' }),
  sync_ref_model: z.boolean().default(false).meta({
    doc: 'Let the reference follow the policy (TR-DPO); full fine-tuning with beta above 0.',
  }),
  ref_model_mixup_alpha: share.default(0.6).meta({ doc: "sync_ref_model: the policy's share of the mixed reference." }),
  ref_model_sync_steps: count
    .default(512)
    .meta({ unit: 'steps', doc: 'sync_ref_model: steps between two mixings of the reference.' }),
  polychromic_lambda: nonNegative
    .default(0.1)
    .meta({ doc: 'polychromic-sft: weight of the diversity of sampled completions in the loss.' }),
  polychromic_prompts: count.nullable().default(8).meta({
    unit: 'prompts',
    doc: 'polychromic-sft: prompts per step to sample completions for; null: all.',
  }),
  polychromic_sets: count.default(16).meta({
    unit: 'sets',
    doc: 'polychromic-grpo: different random sets of completions drawn from each group, or all there are.',
  }),
  polychromic_set_size: z
    .int()
    .min(2)
    .default(4)
    .meta({ unit: 'completions', doc: 'polychromic-grpo: completions in a set, which share its advantage.' }),

  use_bias_correction_kl: z.boolean().default(true).meta({ doc: 'Weight the KL estimate by the importance ratio.' }),
  kl_clamp: positive
    .nullable()
    .default(null)
    .meta({ unit: 'nats', doc: 'Bound on |log ratio| in the KL estimate (ours; TRL has none); null: off.' }),
  epsilon: positive.default(0.2).meta({ doc: 'Clip range of the ratio below (and above unless epsilon_high).' }),
  epsilon_high: positive.nullable().default(null).meta({ doc: 'Clip range above; null: epsilon.' }),
  delta: positive.nullable().default(null).meta({ doc: 'Upper bound of the ratio in the unclipped term; null: none.' }),
  importance_sampling_level: z
    .enum(['token', 'sequence'])
    .default('token')
    .meta({ doc: 'Ratio per token, or one per sequence (GSPO).' }),
  loss_type: z
    .enum(['grpo', 'bnpo', 'dr_grpo', 'dapo', 'luspo', 'cispo', 'sapo', 'vespo'])
    .default('dapo')
    .meta({ doc: 'Policy loss and its normalisation.' }),
  sapo_temperature_pos: positive.default(1).meta({ doc: 'sapo: gate temperature for positive advantages.' }),
  sapo_temperature_neg: positive.default(1.05).meta({ doc: 'sapo: gate temperature for the others.' }),
  vespo_k_pos: nonNegative.default(2).meta({ doc: 'vespo: exponent of the sequence ratio, advantages of at least 0.' }),
  vespo_lambda_pos: nonNegative
    .default(3)
    .meta({ doc: 'vespo: decay of large sequence ratios, advantages of at least 0.' }),
  vespo_k_neg: nonNegative.default(3).meta({ doc: 'vespo: exponent of the sequence ratio, negative advantages.' }),
  vespo_lambda_neg: nonNegative.default(2).meta({ doc: 'vespo: decay of large sequence ratios, negative advantages.' }),
  off_policy_mask_threshold: positive.nullable().default(null).meta({
    unit: 'nats per token',
    doc: 'Mask completions with a negative advantage where the policy has moved further than this from the one that sampled them; null: never.',
  }),
  scale_rewards: z.enum(['group', 'batch', 'none', 'mean']).default('group').meta({
    doc: "What advantages are divided by: the standard deviation of the group or of the batch, nothing (none), or the group's mean reward (MaxRL).",
  }),
  multi_objective_aggregation: z
    .enum(['sum_then_normalize', 'normalize_then_sum'])
    .default('sum_then_normalize')
    .meta({ doc: 'How several reward functions are combined.' }),
  reward_weights: z
    .array(z.number())
    .nullable()
    .default(null)
    .meta({ doc: "One weight per reward function, in the task's order; null: the task's weights." }),
  reward_failure: z.enum(['stop', 'zero', 'skip_group']).default('stop').meta({
    doc: "When a task's own reward fails on a completion: stop the run, give it a reward of 0, or take nothing from its group.",
  }),
  allow_unwritable_words: z.boolean().default(false).meta({
    doc: "Train although the model's tokenizer can't write words of the targets, so that the full reward is out of reach.",
  }),
  relevance_model: z.string().min(1).nullable().default(null).meta({
    path: true,
    doc: 'reply: folder of a sentence encoder (such as all-MiniLM-L6-v2) that judges relevance; null: by words.',
  }),
  system_prompt: z.string().max(20_000).nullable().default(null).meta({
    doc: 'System message before every prompt, for models with a chat template; null: that of the checkpoint it starts from; empty: none.',
  }),
  chat_template_kwargs: templateKwargs.default({}).meta({
    doc: "Variables for the model's chat template, such as enable_thinking: false for Qwen3.",
  }),
  reply_prompt: z
    .string()
    .max(20_000)
    .refine((text) => text === '' || hasPost(text), { error: 'a text with {post} in it' })
    .nullable()
    .default(null)
    .meta({
      doc: "reply: the prompt of records without one, with {post} for the post; null: that of the checkpoint it starts from, otherwise Braid's; empty: Braid's.",
    }),
  mask_truncated_completions: z
    .boolean()
    .default(false)
    .meta({ doc: 'Exclude completions that hit max_completion_length from the loss.' }),
  top_entropy_quantile: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .meta({ doc: 'Train only on this share of tokens, by entropy.' }),
  entropy_coef: z.number().default(0).meta({ doc: 'Weight of an entropy bonus; with use_adaptive_entropy its start.' }),
  use_adaptive_entropy: z.boolean().default(false).meta({
    doc: 'Raise entropy_coef by entropy_coef_delta after each step whose entropy is at most entropy_target, and lower it after any other.',
  }),
  entropy_target: nonNegative.default(0.2).meta({
    unit: 'nats',
    doc: 'use_adaptive_entropy: mean entropy of a token up to which the bonus applies.',
  }),
  entropy_coef_delta: positive.default(0.005).meta({ doc: 'use_adaptive_entropy: change of entropy_coef in a step.' }),
  entropy_coef_min: z.number().default(0).meta({ doc: 'use_adaptive_entropy: lower bound of entropy_coef.' }),
  entropy_coef_max: z.number().default(1).meta({ doc: 'use_adaptive_entropy: upper bound of entropy_coef.' }),
  gradient_checkpointing: z.boolean().nullable().default(null).meta({
    doc: 'Recompute activations in the backward pass: less memory, more time; null: only if memory requires it.',
  }),
  activation_memory_mb: count.nullable().default(null).meta({
    unit: 'MiB',
    doc: "Memory for activations and the keys and values of sampling; what needs more is run in parts; null (or auto): the device's free memory less weights, optimiser and a reserve.",
  }),
  vllm_importance_sampling_correction: z.boolean().default(false).meta({
    doc: "engine: weight each token by the ratio of the trainer's probability to the sampler's, truncated (TRL: on by default).",
  }),
  vllm_importance_sampling_clip_max: positive
    .default(3)
    .meta({ doc: 'vllm_importance_sampling_correction: upper bound of the ratio.' }),
  shuffle_dataset: z.boolean().default(true).meta({ doc: 'Reshuffle the records each epoch.' }),

  sample_steps: count.default(10).meta({ unit: 'steps', doc: 'Store the completions of every N-th step.' }),
  save_steps: count.default(20).meta({ unit: 'steps', doc: 'Write a checkpoint every N steps, and at the end.' }),
  save_total_limit: count
    .nullable()
    .default(3)
    .meta({ unit: 'checkpoints', doc: 'Keep the newest N checkpoints of the run; null: all.' }),
  logging_dir: z.string().min(1).nullable().default(null).meta({
    path: true,
    doc: "Write TensorBoard events into the run's subfolder of this folder; null: none.",
  }),
  report_to: z.array(z.enum(TRACKERS)).default([]).meta({
    doc: 'Send metrics and completions live to these trackers: by their Python clients, MLflow by its address.',
  }),
  project: z
    .string()
    .min(1)
    .max(200)
    .default('braid')
    .meta({ doc: 'report_to: the project, or the experiment, that the run appears in.' }),
  eval_steps: z.int().min(0).default(0).meta({
    unit: 'steps',
    doc: 'Evaluate on held-out records every N steps, before the first and after the last; 0: never.',
  }),
  eval_records: count.default(32).meta({ unit: 'records', doc: 'Held-out records per evaluation.' }),
  pause_on_collapse: z
    .boolean()
    .default(false)
    .meta({ doc: 'Pause the run when the collapse watch raises a warning.' }),
  collapse_patience: count
    .default(5)
    .meta({ unit: 'steps', doc: 'Consecutive bad steps before the collapse watch warns.' }),
});

/** The whole configuration of a run. */
export type TrainConfig = Readonly<z.infer<typeof trainConfigSchema>>;

/** The configuration of a run that has begun: what was left to the machine is decided. */
export type RunConfig = TrainConfig & { readonly activation_memory_mb: number };

/** Whether a method learns from rewards of its own samples. */
export function isReinforcement(method: TrainConfig['method']): boolean {
  return method === 'grpo' || method === 'polychromic-grpo';
}

/** Completions of a group that are trained on. */
export function trainedGroupSize(config: Pick<TrainConfig, 'num_generations' | 'pods_update_size'>): number {
  return config.pods_update_size ?? config.num_generations;
}

/** Every field's name, in the order of the table. */
export const configFields = Object.keys(trainConfigSchema.shape) as readonly (keyof TrainConfig)[];

/** The documentation of one field. */
export function fieldMeta(field: keyof TrainConfig): FieldMeta {
  return trainConfigSchema.shape[field].meta() as unknown as FieldMeta;
}
