/**
 * What a GRPO step will take in memory, worked out from a model's config before anything is loaded: weights, adapters
 * with their optimiser, the cache of keys and values, activations. Pure. Decides how many completions are sampled and
 * trained on at a time.
 */
import type { ModelConfig } from '../model/config.ts';
import { parameterShapes } from '../model/model.ts';
import { tokenCost } from './memory.ts';

export interface PlanOptions {
  /** Tokens of a prompt and of a completion, at the longest. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** P and G. */
  readonly prompts: number;
  readonly group: number;
  /** Rank of adapters on all linear layers; null: all weights are trained. */
  readonly loraRank: number | null;
  /** Bytes that are there for all of it. */
  readonly budget: number;
  /** Bytes of a frozen weight: 4, or 2 as bfloat16, which is made float32 a matrix at a time. */
  readonly weightBytes: 2 | 4;
}

/** Bytes by what they are for; the larger of the two phases counts. */
export interface MemoryPlan {
  readonly weights: number;
  /** What is trained: gradient and two moments, and the adapters themselves. */
  readonly optimiser: number;
  /** Completions sampled at a time. */
  readonly sampled: number;
  /** Keys, values and logits while they are sampled. */
  readonly cache: number;
  /** Completions trained on at a time, with checkpointing by layer. */
  readonly trained: number;
  readonly activations: number;
  /** Program and libraries. */
  readonly program: number;
  readonly total: number;
  readonly fits: boolean;
}

/** Node, TensorFlow's library and its threads (measured: docs/performance.md). */
const PROGRAM = 430 * 2 ** 20;
/** Scores of attention and chunks of logits that are in flight in a backward pass: 4 tensors of 128 and of 64 MiB. */
const CHUNKS = 4 * (128 + 64) * 2 ** 20;
const FLOAT = 4;

/** The plan for a model: as many completions at a time as fit, at least one. */
export function memoryPlan(config: ModelConfig, options: PlanOptions): MemoryPlan {
  const { budget, prompts, group } = options;
  const weights = options.weightBytes * weightCount(config) + (options.weightBytes === 2 ? largestMatrix(config) : 0);
  const optimiser = optimiserBytes(config, options.loraRank);
  const fixed = weights + optimiser + PROGRAM;
  const most = prompts * group;
  const sampled = atMost(most, (rows) => fixed + cacheBytes(config, options, rows) <= budget);
  const trained = atMost(most, (rows) => fixed + activationBytes(config, options, rows) <= budget);
  const cache = cacheBytes(config, options, sampled);
  const activations = activationBytes(config, options, trained);
  const total = fixed + Math.max(cache, activations);
  return { weights, optimiser, sampled, cache, trained, activations, program: PROGRAM, total, fits: total <= budget };
}

/** The largest number from 1 to `most` for which `holds`; 1 where none does. */
export function atMost(most: number, holds: (n: number) => boolean): number {
  let [low, high] = [1, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The bytes of the largest matrix in float32. */
function largestMatrix(config: ModelConfig): number {
  return FLOAT * [...parameterShapes(config).values()].reduce((most, [a = 1, b = 1]) => Math.max(most, a * b), 0);
}

/** Numbers in all weights. */
export function weightCount(config: ModelConfig): number {
  return [...parameterShapes(config).values()].reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);
}

function optimiserBytes(config: ModelConfig, rank: number | null): number {
  if (rank === null) return 3 * FLOAT * weightCount(config);
  const widths = [...parameterShapes(config)]
    .filter(([name]) => name.endsWith('_proj.weight'))
    .reduce((sum, [, [out = 0, width = 0]]) => sum + out + width, 0);
  return 4 * FLOAT * rank * widths;
}

/** Keys and values of one token in all layers. */
export function kvBytesPerToken({ numLayers, numKvHeads, headDim }: ModelConfig): number {
  return 2 * FLOAT * numLayers * numKvHeads * headDim;
}

/** Rows of one prompt share its keys and values; a layer's are copied while they grow; logits come three times. */
export function cacheBytes(
  config: ModelConfig,
  { promptTokens, completionTokens, group }: Pick<PlanOptions, 'promptTokens' | 'completionTokens' | 'group'>,
  rows: number,
): number {
  const tokens = Math.ceil(rows / group) * promptTokens + rows * completionTokens * (1 + 1 / config.numLayers);
  return tokens * kvBytesPerToken(config) + 3 * FLOAT * rows * config.vocabSize;
}

function activationBytes(
  config: ModelConfig,
  { promptTokens, completionTokens, group }: PlanOptions,
  rows: number,
): number {
  const tokens = Math.ceil(rows / group) * promptTokens + rows * completionTokens;
  return tokens * tokenCost(config).checkpointed + Math.min(CHUNKS, 8 * FLOAT * tokens * config.vocabSize);
}
