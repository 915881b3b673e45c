/**
 * Plans the memory of a GRPO step from a model's config before anything is loaded, by the rules that a run follows: how
 * many completions are sampled and trained on at a time. Pure.
 */
import type { ModelConfig } from '../../model/config.ts';
import { ofLargestLayer, overLayers } from '../../model/mixers/index.ts';
import { inputWidth, planRows, tokenCost } from './activations.ts';
import { activationBudget, type Budget, type Residents, residentBytes, usedBytes } from './budget.ts';
import { exceedsWindow, windowedDecodeBytes } from './window-memory.ts';

export interface PlanOptions extends Residents {
  /** Maximum tokens of a prompt and of a completion. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** P and G. */
  readonly prompts: number;
  readonly group: number;
  readonly budget: Budget;
}

/** Bytes by purpose; the larger of the two phases counts. */
export interface MemoryPlan {
  readonly weights: number;
  /** Training state: gradients and two moments, and the adapters themselves. */
  readonly optimiser: number;
  /** Completions sampled at a time. */
  readonly sampled: number;
  /** Keys, values and logits during sampling. */
  readonly cache: number;
  /** Completions trained on at a time. */
  readonly trained: number;
  readonly activations: number;
  /** Program and libraries. */
  readonly program: number;
  readonly total: number;
  readonly fits: boolean;
}

const FLOAT = 4;

/** The plan for a model: as many completions at a time as fit, at least one. */
export function memoryPlan(config: ModelConfig, options: PlanOptions): MemoryPlan {
  const { budget, prompts, group, promptTokens, completionTokens } = options;
  const most = prompts * group;
  const allowed = activationBudget(config, options, budget);
  const sampled = rowsAtOnce(config, options, most, allowed);
  const rows = Array.from({ length: most }, (_, row) => ({
    group: Math.floor(row / group),
    prompt: promptTokens,
    completion: completionTokens,
  }));
  const { parts, bytes } = planRows(rows, tokenCost(config), {
    activation_memory_mb: allowed / 2 ** 20,
    gradient_checkpointing: null,
  });
  const [{ first, end } = { first: 0, end: 0 }] = parts;
  const activations = options.trained === 'none' ? 0 : bytes;
  const cache = cacheBytes(config, options, sampled);
  const total = usedBytes(config, options, budget.program, Math.max(cache, activations), budget.device);
  return {
    ...residentBytes(config, options),
    sampled,
    cache,
    trained: end - first,
    activations,
    program: budget.program,
    // One completion at a time is tried even where it takes some of the reserve.
    total,
    fits: total <= budget.bytes,
  };
}

/** The largest number from 1 to `most` for which `holds`; 1 if none does. */
function atMost(most: number, holds: (n: number) => boolean): number {
  let [low, high] = [1, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Prompts and completions that are decoded together. */
export interface DecodedShape extends Pick<PlanOptions, 'promptTokens' | 'completionTokens' | 'group'> {
  /** Copies of the prompts' keys and values; default: 1. */
  readonly prefixes?: number;
}

/** How many of `most` completions are decoded together within `bytes`. */
export function rowsAtOnce(config: ModelConfig, shape: DecodedShape, most: number, bytes: number): number {
  return atMost(most, (rows) => cacheBytes(config, shape, rows) <= bytes);
}

/** Keys and values of one token in all layers. */
export function kvBytesPerToken(config: ModelConfig): number {
  return FLOAT * overLayers(config, (kind, own) => kind.tokenFloats(own));
}

/** What layers keep of a sequence of any length. */
function stateBytes(config: ModelConfig): number {
  return FLOAT * overLayers(config, (kind, own) => kind.stateWidths(own).reduce((sum, width) => sum + width, 0));
}

/**
 * Rows of one prompt share its keys and values, unless a window makes each copy them; a layer's are copied as they grow;
 * logits exist three times. While the prompts are read there are no completions yet, but a layer's activations.
 */
export function cacheBytes(
  config: ModelConfig,
  { promptTokens, completionTokens, group, prefixes = 1 }: DecodedShape,
  rows: number,
): number {
  const prefill = Math.ceil(rows / group);
  const prompts = prefill * promptTokens;
  const perToken = kvBytesPerToken(config);
  const tokens = promptTokens + completionTokens;
  const copied = exceedsWindow(config, tokens);
  const own = rows * (copied ? tokens : completionTokens) * (1 + 1 / config.numLayers) * perToken;
  const outputs = Math.max(3 * FLOAT * rows * config.vocabSize, windowedDecodeBytes(config, tokens, rows));
  const kept = stateBytes(config);
  const decoding = (copied ? prefixes - 1 : prefixes) * prompts * perToken + own + outputs + rows * kept;
  return Math.max(
    decoding + (prefixes - 1) * prefill * kept,
    prefixes * (prompts * perToken + prefill * kept) + prompts * layerBytes(config),
  );
}

/** Packed tokens of a forward pass without a gradient within `bytes`. */
export function forwardTokens(config: ModelConfig, bytes: number): number {
  return Math.max(1, Math.floor(bytes / layerBytes(config)));
}

/** Bytes of a forward pass without a gradient over so many packed tokens. */
export function forwardBytes(config: ModelConfig, tokens: number): number {
  return tokens * layerBytes(config);
}

/** What a token needs in one layer of a forward pass, whose tensors live until the layer is done. */
function layerBytes(config: ModelConfig): number {
  const { hiddenSize: d, numLayers } = config;
  const floats = ofLargestLayer(config, (kind, own) => 5 * d + 3 * own.intermediateSize + kind.workingFloats(own));
  // The inputs of all layers are there from the first.
  return FLOAT * (floats + 3 * numLayers * inputWidth(config));
}
