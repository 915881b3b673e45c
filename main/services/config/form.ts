/** The configuration as a form: every field with its kind of input, grouped, the important ones first. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configFields, fieldMeta, type TrainConfig, trainConfigSchema } from '../../trainer/config/config.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type ConfigFields, readPreset } from './presets.ts';

export type FieldInput =
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'choices'; readonly options: readonly string[] }
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly whole: boolean; readonly min: number | null; readonly max: number | null }
  | { readonly kind: 'numbers' }
  | { readonly kind: 'texts' }
  | { readonly kind: 'variables' }
  | { readonly kind: 'text' };

export interface ConfigField {
  readonly name: keyof TrainConfig;
  readonly doc: string;
  readonly unit: string | null;
  readonly group: string;
  /** Shown without expanding "more". */
  readonly important: boolean;
  /** Whether null is a value of its own: computed, off, or the file next to it. */
  readonly nullable: boolean;
  readonly default: unknown;
  readonly input: FieldInput;
}

export interface Preset {
  readonly name: string;
  /** The comment at the top of its file. */
  readonly doc: string;
  readonly fields: ConfigFields;
}

type Names = readonly (keyof TrainConfig)[];

const important: Names = [
  'model',
  'dataset',
  'max_steps',
  'warm_up_steps',
  'learning_rate',
  'num_generations',
  'per_device_train_batch_size',
  'temperature',
  'beta',
  'use_peft',
  'lora_r',
  'eval_steps',
  'pause_on_collapse',
];

/** In the order in which users think of them. */
const groups: readonly (readonly [title: string, fields: Names])[] = [
  ['What to train', ['model', 'dataset', 'method', 'task', 'engine', 'from_checkpoint', 'eval_dataset', 'seed']],
  [
    'Learning',
    [
      'max_steps',
      'num_train_epochs',
      'warm_up_steps',
      'warm_up_learning_rate',
      'warm_up_batch_size',
      'assistant_only_loss',
      'learning_rate',
      'per_device_train_batch_size',
      'gradient_accumulation_steps',
      'lr_scheduler_type',
      'warmup_steps',
      'max_grad_norm',
      'weight_decay',
      'adam_beta1',
      'adam_beta2',
      'adam_epsilon',
      'shuffle_dataset',
    ],
  ],
  [
    'Sampling',
    [
      'num_generations',
      'pods_update_size',
      'temperature',
      'max_completion_length',
      'top_p',
      'top_k',
      'min_p',
      'repetition_penalty',
      'stop_strings',
      'num_iterations',
      'steps_per_generation',
      'dynamic_sampling',
      'greso_exploration',
      'adarft_target_reward',
      'adarft_sensitivity',
      'adarft_step_size',
    ],
  ],
  ['Chat', ['system_prompt', 'chat_template_kwargs', 'reply_prompt']],
  ['Weights', ['use_peft', 'lora_r', 'lora_alpha', 'lora_target_modules', 'use_rslora']],
  [
    'Loss',
    [
      'beta',
      'loss_type',
      'epsilon',
      'epsilon_high',
      'delta',
      'scale_rewards',
      'importance_sampling_level',
      'use_bias_correction_kl',
      'kl_clamp',
      'sync_ref_model',
      'ref_model_mixup_alpha',
      'ref_model_sync_steps',
      'mask_truncated_completions',
      'top_entropy_quantile',
      'entropy_coef',
      'use_adaptive_entropy',
      'entropy_target',
      'entropy_coef_delta',
      'entropy_coef_min',
      'entropy_coef_max',
      'reward_weights',
      'reward_failure',
      'allow_unwritable_words',
      'multi_objective_aggregation',
      'sapo_temperature_pos',
      'sapo_temperature_neg',
      'vespo_k_pos',
      'vespo_lambda_pos',
      'vespo_k_neg',
      'vespo_lambda_neg',
      'off_policy_mask_threshold',
      'vllm_importance_sampling_correction',
      'vllm_importance_sampling_clip_max',
    ],
  ],
  [
    'Evaluation and saving',
    [
      'eval_steps',
      'pause_on_collapse',
      'eval_records',
      'save_steps',
      'save_total_limit',
      'sample_steps',
      'collapse_patience',
      'logging_dir',
      'report_to',
      'project',
    ],
  ],
  [
    'Machine',
    ['backend', 'threads', 'base_weights', 'compute_dtype', 'activation_memory_mb', 'gradient_checkpointing'],
  ],
];

/** Every field of the configuration, group by group. */
export function configForm(): readonly ConfigField[] {
  const { properties = {} } = z.toJSONSchema(trainConfigSchema, { io: 'input' });
  const grouped = new Set(groups.flatMap(([, names]) => names));
  const rest = configFields.filter((name) => !grouped.has(name));
  return [...groups, ['More', rest] as const].flatMap(([group, names]) =>
    names.map((name): ConfigField => {
      const schema = properties[name] as FieldSchema;
      const { doc, unit = null } = fieldMeta(name);
      const { nullable, input } = inputOf(schema);
      return { name, doc, unit, group, important: important.includes(name), nullable, default: schema.default, input };
    }),
  );
}

/** The part of JSON Schema that the configuration uses. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
  readonly default?: unknown;
}

function inputOf(schema: FieldSchema): Pick<ConfigField, 'nullable' | 'input'> {
  const types = Array.isArray(schema.type) ? (schema.type as readonly string[]) : null;
  const kinds = schema.anyOf ?? types?.map((type) => ({ ...schema, type })) ?? [schema];
  const nullable = kinds.some(({ type }) => type === 'null');
  return { nullable, input: kindOf(kinds.find(({ type }) => type !== 'null') ?? schema) };
}

function kindOf(schema: FieldSchema): FieldInput {
  if (schema.enum !== undefined) return { kind: 'choice', options: schema.enum };
  switch (schema.type) {
    case 'boolean':
      return { kind: 'switch' };
    case 'array':
      if (schema.items?.enum !== undefined) return { kind: 'choices', options: schema.items.enum };
      return { kind: schema.items?.type === 'string' ? 'texts' : 'numbers' };
    case 'object':
      return { kind: 'variables' };
    case 'integer':
    case 'number': {
      // zod writes the largest safe integer where no upper bound was set.
      const max = schema.maximum === Number.MAX_SAFE_INTEGER ? null : (schema.maximum ?? null);
      return { kind: 'number', whole: schema.type === 'integer', min: schema.minimum ?? null, max };
    }
    default:
      return { kind: 'text' };
  }
}

/** The bundled presets. */
export function listPresets(paths: Pick<HostPaths, 'resources'>): readonly Preset[] {
  const folder = join(paths.resources, 'presets');
  const names = readdirSync(folder).flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? []);
  return names.sort().map((name) => {
    const lines = readFileSync(join(folder, `${name}.yaml`), 'utf8').split('\n');
    const comment = lines
      .slice(
        0,
        lines.findIndex((line) => !line.startsWith('#')),
      )
      .map((line) => line.slice(1).trim());
    return { name, doc: comment.join(' ') || name, fields: readPreset(name, paths) };
  });
}
