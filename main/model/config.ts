import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { parseJson } from '../io/json.ts';
import { readRegular } from '../io/read-file.ts';

/** RoPE scaling for positions beyond the original training length (Llama 3). */
export interface Llama3Scaling {
  readonly factor: number;
  readonly lowFreqFactor: number;
  readonly highFreqFactor: number;
  readonly originalMaxPositionEmbeddings: number;
}

/** The settings of a model that the decoder needs, from its config.json. */
export interface ModelConfig {
  readonly modelType: 'llama' | 'qwen2' | 'qwen3';
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly ropeScaling: Llama3Scaling | null;
  readonly maxPositionEmbeddings: number;
  readonly tieWordEmbeddings: boolean;
  /** Biases on the q, k and v projections (Qwen2, or Llama's attention_bias). */
  readonly attentionBias: boolean;
  /** RMSNorm over each head's q and k before RoPE (Qwen3). */
  readonly qkNorm: boolean;
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number | null;
}

const size = z.int().min(1);
const ropeSchema = z.looseObject({
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: z.number().positive().optional(),
  factor: z.number().positive().optional(),
  low_freq_factor: z.number().positive().optional(),
  high_freq_factor: z.number().positive().optional(),
  original_max_position_embeddings: size.optional(),
});
const tokenIds = z.union([z.int().min(0), z.array(z.int().min(0))]).nullish();

const configSchema = z.looseObject({
  model_type: z.enum(['llama', 'qwen2', 'qwen3']),
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.optional(),
  head_dim: size.nullish(),
  hidden_act: z.literal('silu').default('silu'),
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().optional(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  max_position_embeddings: size.default(2048),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.literal(false).default(false),
  eos_token_id: tokenIds,
  pad_token_id: z.int().nullish(),
  use_sliding_window: z.boolean().nullish(),
  layer_types: z.array(z.string()).nullish(),
  quantization_config: z.unknown().optional(),
});

type RawConfig = z.infer<typeof configSchema>;

/** Reads and checks `config.json` (and the end tokens of `generation_config.json`) of a Hugging Face folder. */
export function readModelConfig(folder: string): ModelConfig {
  const file = join(folder, 'config.json');
  return parseModelConfig(readJson(file), file, generationEos(folder));
}

/** Checks a parsed config.json; `origin` identifies it in errors. */
export function parseModelConfig(value: unknown, origin: string, extraEos: readonly number[] = []): ModelConfig {
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    // For an unknown architecture, errors in the other fields don't matter.
    const strange = parsed.error.issues.find(({ path }) => path[0] === 'model_type');
    if (strange !== undefined) throw unknownArchitecture(value, origin);
    const issues = parsed.error.issues.map((issue) => `"${issue.path.join('.')}": ${issue.message}`).join('; ');
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: ${issues}`,
      'Llama, Qwen2 and Qwen3 models in Hugging Face format are supported.',
    );
  }
  checkSupported(parsed.data, origin);
  const config = toModelConfig(parsed.data, origin, extraEos);
  if (config.headDim % 2 !== 0) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected an even "head_dim" (default hidden_size / num_attention_heads), got ${config.headDim}`,
    );
  }
  if (config.numHeads % config.numKvHeads !== 0) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected num_attention_heads (${config.numHeads}) to be a multiple of num_key_value_heads (${config.numKvHeads})`,
    );
  }
  return config;
}

function unknownArchitecture(value: unknown, origin: string): Error {
  const got = JSON.stringify((value as { readonly model_type?: unknown } | null)?.model_type) ?? 'nothing';
  return inputError(
    'BAD_MODEL_CONFIG',
    `${origin}: expected "model_type" to be llama, qwen2 or qwen3, got ${got}`,
    'Llama, Qwen2 and Qwen3 models in Hugging Face format are supported.',
  );
}

/** Refuses settings that would silently compute something else here. */
function checkSupported(raw: RawConfig, origin: string): void {
  const windowed = raw.layer_types?.some((type) => type !== 'full_attention') ?? raw.use_sliding_window === true;
  if (windowed) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected full attention in every layer ("use_sliding_window": false), got a sliding window`,
      'Use a model without sliding-window attention.',
    );
  }
  if (raw.quantization_config !== undefined && raw.quantization_config !== null) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected plain weights, got a "quantization_config"`,
      'Quantised weights are not supported: use the original ones.',
    );
  }
}

function toModelConfig(raw: RawConfig, origin: string, extraEos: readonly number[]): ModelConfig {
  const ids = raw.eos_token_id ?? [];
  return {
    modelType: raw.model_type,
    vocabSize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    intermediateSize: raw.intermediate_size,
    numLayers: raw.num_hidden_layers,
    numHeads: raw.num_attention_heads,
    numKvHeads: raw.num_key_value_heads ?? raw.num_attention_heads,
    headDim: raw.head_dim ?? (raw.model_type === 'qwen3' ? 128 : raw.hidden_size / raw.num_attention_heads),
    rmsNormEps: raw.rms_norm_eps,
    // Newer files fold theta into rope_parameters.
    ropeTheta: raw.rope_parameters?.rope_theta ?? raw.rope_theta ?? 10000,
    ropeScaling: llama3Scaling(raw.rope_parameters ?? raw.rope_scaling ?? null, origin),
    maxPositionEmbeddings: raw.max_position_embeddings,
    tieWordEmbeddings: raw.tie_word_embeddings,
    attentionBias: raw.model_type === 'qwen2' || raw.attention_bias,
    qkNorm: raw.model_type === 'qwen3',
    eosTokenIds: [...new Set([...(Array.isArray(ids) ? ids : [ids]), ...extraEos])],
    padTokenId: raw.pad_token_id ?? null,
  };
}

function llama3Scaling(rope: z.infer<typeof ropeSchema> | null, origin: string): Llama3Scaling | null {
  const type = rope?.rope_type ?? rope?.type ?? 'default';
  if (rope === null || type === 'default') return null;
  const { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: original } = rope;
  if (type !== 'llama3' || factor === undefined || low === undefined || high === undefined || original === undefined) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected RoPE of type "default" or a complete "llama3", got ${JSON.stringify(rope)}`,
    );
  }
  return { factor, lowFreqFactor: low, highFreqFactor: high, originalMaxPositionEmbeddings: original };
}

/** Every end token of generation_config.json: chat models end a turn with a different token than a document. */
function generationEos(folder: string): readonly number[] {
  const file = join(folder, 'generation_config.json');
  let value: unknown;
  try {
    value = readJson(file);
  } catch (error) {
    // The file is optional, but must be valid if present.
    if (error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return [];
    throw error;
  }
  const parsed = z.looseObject({ eos_token_id: tokenIds }).safeParse(value);
  if (!parsed.success)
    throw inputError('BAD_MODEL_CONFIG', `${file}: expected "eos_token_id" to be a token id or a list of them`);
  const ids = parsed.data.eos_token_id ?? [];
  return Array.isArray(ids) ? ids : [ids];
}

/** Reads a JSON file of a model folder; errors name the file. */
export function readJson(file: string): unknown {
  let text: string;
  try {
    text = readRegular(file).toString('utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw Object.assign(
      inputError(
        missing ? 'MODEL_FILE_MISSING' : 'MODEL_FILE_UNREADABLE',
        `${file}: ${missing ? 'expected this file of a Hugging Face model folder, but it is not there' : `can't be read (${(cause as Error).message})`}`,
        'Check the model folder; it needs config.json, tokenizer.json and model.safetensors (or its shards).',
      ),
      { cause },
    );
  }
  try {
    return parseJson(text);
  } catch (cause) {
    throw Object.assign(
      inputError(
        'BAD_JSON',
        `${file}: not valid JSON (${(cause as Error).message})`,
        'Copy or download the file again; an interrupted transfer can truncate it.',
      ),
      { cause },
    );
  }
}
