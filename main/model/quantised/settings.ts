/** How a folder's weights are quantised, by "quantization_config" of its config.json, or MLX's "quantization". */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { isQuantised, type Quantised } from '../../tensor/quantised.ts';
import type { WeightPrecision } from '../../tensor/weights.ts';
import type { FloatType } from '../safetensors.ts';
import { issuesOf } from '../shown.ts';

/** How its files have a matrix; what they don't say themselves is here. */
export interface Quantisation {
  readonly method: 'bitsandbytes' | 'mlx' | 'gptq' | 'awq' | 'fp8' | 'compressed-tensors';
  /** For people: `bitsandbytes nf4`. */
  readonly name: string;
  readonly bits: number;
  /** What Braid's own kernels for 8 and 4 bits compute with as it is; null: nothing. */
  readonly keptAs: Quantised | null;
  /** The type of the numbers where the tensors don't say it. */
  readonly type: FloatType;
  /** Columns that share a scale; null: all, or what the shapes say. */
  readonly groupSize: number | null;
  /** Rows and columns of the blocks that share a scale; null: none do. */
  readonly block: readonly [rows: number, columns: number] | null;
  /** Added to stored zero points (GPTQ's first format: 1). */
  readonly zeroOffset: 0 | 1;
}

const LARGEST_GROUP = 2 ** 20;
const groupSize = z.union([z.literal(-1), z.int().min(1).max(LARGEST_GROUP)]);
const bitsOf = (...allowed: readonly number[]) => z.literal(allowed);
const block = z.tuple([z.int().min(1).max(LARGEST_GROUP), z.int().min(1).max(LARGEST_GROUP)]);

const bitsandbytes = z.looseObject({
  load_in_4bit: z.boolean().nullish(),
  load_in_8bit: z.boolean().nullish(),
  bnb_4bit_quant_type: z.literal(['nf4', 'fp4']).default('fp4'),
});
const mlx = z.looseObject({
  bits: bitsOf(2, 3, 4, 5, 6, 8).default(4),
  group_size: z.literal([16, 32, 64, 128]).default(64),
  mode: z.literal('affine').default('affine'),
});
const gptq = z.looseObject({
  bits: bitsOf(2, 3, 4, 8),
  group_size: groupSize.default(128),
  checkpoint_format: z.literal(['gptq', 'gptq_v2']).default('gptq'),
});
const awq = z.looseObject({
  bits: bitsOf(4).default(4),
  group_size: groupSize.default(128),
  version: z
    .string()
    .default('gemm')
    .transform((name) => name.toLowerCase())
    .pipe(z.literal('gemm')),
});
const fp8 = z.looseObject({ weight_block_size: block.nullish() });
const scheme = z.looseObject({
  num_bits: z.int().min(1).max(8).default(8),
  type: z.literal(['int', 'float']).default('int'),
  symmetric: z.boolean().default(true),
  strategy: z.literal(['tensor', 'channel', 'group', 'block']).nullish(),
  group_size: groupSize.nullish(),
  block_structure: block.nullish(),
});
const FORMATS = ['pack-quantized', 'int-quantized', 'float-quantized', 'naive-quantized', 'dense'] as const;
const compressed = z.looseObject({
  format: z.literal(FORMATS).default('dense'),
  config_groups: z.record(z.string(), z.looseObject({ weights: scheme.nullish() })).default({}),
  // Rotations that are computed with the activations.
  transform_config: z.record(z.string(), z.null()).nullish(),
  sparsity_config: z.looseObject({ format: z.literal('dense').default('dense') }).nullish(),
});

type Parts = Omit<Quantisation, 'method' | 'type'>;
const plain = { keptAs: null, groupSize: null, block: null, zeroOffset: 0 } as const;
const columns = (size: number): number | null => (size === -1 ? null : size);

/** What each method's settings mean; `read` refuses what it doesn't. */
const METHODS = {
  bitsandbytes: (read) => {
    const { load_in_8bit: eight, bnb_4bit_quant_type: kind } = read(bitsandbytes);
    if (eight === true) return { ...plain, name: 'bitsandbytes int8', bits: 8, keptAs: 'int8' };
    return { ...plain, name: `bitsandbytes ${kind}`, bits: 4, keptAs: kind === 'nf4' ? 'nf4' : null };
  },
  mlx: (read) => {
    const { bits, group_size: size } = read(mlx);
    return { ...plain, name: 'MLX', bits, groupSize: size };
  },
  gptq: (read) => {
    const { bits, group_size: size, checkpoint_format: format } = read(gptq);
    return { ...plain, name: 'GPTQ', bits, groupSize: columns(size), zeroOffset: format === 'gptq' ? 1 : 0 };
  },
  awq: (read) => {
    const { bits, group_size: size } = read(awq);
    return { ...plain, name: 'AWQ', bits, groupSize: columns(size) };
  },
  fp8: (read) => ({ ...plain, name: 'FP8', bits: 8, block: read(fp8).weight_block_size ?? null }),
  'compressed-tensors': (read) => {
    const { format, config_groups: groups } = read(compressed);
    const {
      num_bits: bits,
      type,
      symmetric,
      strategy,
      ...first
    } = Object.values(groups)[0]?.weights ?? scheme.parse({});
    const isInt8 = bits === 8 && type === 'int' && symmetric && strategy === 'channel';
    return {
      ...plain,
      name: `compressed-tensors ${format}`,
      bits,
      keptAs: isInt8 && format === 'int-quantized' ? 'int8' : null,
      groupSize: columns(first.group_size ?? -1),
      block: first.block_structure ?? null,
    };
  },
} as const satisfies Readonly<Record<Quantisation['method'], (read: <T>(schema: z.ZodType<T>) => T) => Parts>>;

/** Other names of the same. */
const ALIASES: Readonly<Record<string, Quantisation['method']>> = {
  fbgemm_fp8: 'fp8',
  compressed_tensors: 'compressed-tensors',
};

const TYPES: Readonly<Record<string, FloatType>> = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' };

interface RawQuantised {
  readonly quantization_config?: unknown;
  readonly quantization?: unknown;
  readonly dtype?: unknown;
  readonly torch_dtype?: unknown;
}

/** Null: the weights aren't quantised. What can't be read is refused by its name. */
export function readQuantisation(raw: RawQuantised, origin: string): Quantisation | null {
  // MLX writes "quantization", newer versions "quantization_config" without a method too.
  const settings = raw.quantization_config ?? raw.quantization ?? null;
  if (settings === null) return null;
  const { quant_method, load_in_4bit: four, load_in_8bit: eight } = settings as Readonly<Record<string, unknown>>;
  // bitsandbytes' first versions named no method.
  const given = quant_method ?? (four === true || eight === true ? 'bitsandbytes' : 'mlx');
  const key = String(given);
  const method = (Object.hasOwn(ALIASES, key) ? ALIASES[key] : key) as Quantisation['method'];
  if (!Object.hasOwn(METHODS, method)) throw unreadable(origin, `by ${key.slice(0, 40)}`);
  const read = <T>(schema: z.ZodType<T>): T => {
    const parsed = schema.safeParse(settings, { reportInput: true });
    if (parsed.success) return parsed.data;
    throw unreadable(origin, `by ${method} in a way that it doesn't know (${issuesOf(parsed.error)})`);
  };
  const type = TYPES[String(raw.dtype ?? raw.torch_dtype)] ?? 'BF16';
  return { ...METHODS[method](read), method, type };
}

function unreadable(origin: string, how: string) {
  return inputError(
    'BAD_MODEL_CONFIG',
    `${origin}: its weights are quantised ${how}, which Braid can't read`,
    'Use the original model that it was made from, in float32, float16 or bfloat16; bitsandbytes, MLX (affine), GPTQ, AWQ (GEMM), FP8 and compressed-tensors are read.',
  );
}

/** `bitsandbytes nf4, 4 bits`. */
export function shortWords({ name, bits }: Quantisation): string {
  return `${name}, ${bits} bits`;
}

/** What happens to such weights, for people. */
export function quantisedWords({ name, bits, keptAs }: Quantisation): string {
  const kept = keptAs === null ? '' : ` (LoRA on webgpu keeps them in ${bits} bits)`;
  return `Its weights were rounded to ${bits} bits (${name}) and are unpacked whenever it is loaded${kept}. Training starts from the rounded ones: the original model in 16 bits, where you can get it, is the better start.`;
}

/** How a run holds such weights, after its other facts. Processors unpack what they were asked to have in 8 or 4 bits. */
export function heldWords({ name, bits, keptAs }: Quantisation, precision: WeightPrecision, backend: string): string {
  if (backend === 'webgpu' && precision === keptAs)
    return `; weights kept in ${bits} bits, as the folder has them (${name})`;
  const unpacked = backend !== 'webgpu' && isQuantised(precision) ? 'float32' : precision;
  const to = unpacked === 'stored' ? "the folder's precision" : unpacked;
  return `; weights unpacked from ${bits} bits (${name}) to ${to}`;
}
