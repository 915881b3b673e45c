/**
 * Activation memory of a training pass, and how a micro-batch is split so that it fits. The counts follow the decoder's
 * operations; the factors from counted floats to peak bytes were measured (see docs/performance.md).
 */
import type { ModelConfig } from '../../model/config.ts';
import { cappedTokens } from '../../model/head.ts';
import { ofLargestLayer, overLayers } from '../../model/mixers/index.ts';
import type { MixerKind } from '../../model/mixers/mixer.ts';
import { CAPPED_COPIES } from '../../tensor/ops/capped-logits.ts';
import type { RunConfig } from '../config/config.ts';

/** Peak bytes per packed token of a forward and backward pass. */
export interface TokenCost {
  /** Keeping every activation. */
  readonly plain: number;
  /** With gradient checkpointing by layer. */
  readonly checkpointed: number;
  /** Besides, while all of these are there: of each token that the head predicts from, and of a part's at most. */
  readonly head: { readonly perToken: number; readonly most: number };
}

/** How a micro-batch is run. */
export interface PassPlan {
  readonly checkpointing: boolean;
  /** Packed tokens of one part; a larger micro-batch is split. */
  readonly maxTokens: number;
}

/** Most bytes of logits that a pass keeps: more wouldn't pay in a heap of 4 GiB. */
const KEPT_LOGITS = 256 * 2 ** 20;

/** Memory of the running op and its gradient, in addition to the saved tensors counted below. */
const PEAK = 1.2;
const GEGLU = 6;

/** The cost per token for a model, with or without an adapter, whose own products aren't kept. */
export function tokenCost(config: ModelConfig): TokenCost {
  const { hiddenSize: d, numLayers } = config;
  const layer = (kind: MixerKind, own: ModelConfig): number =>
    PEAK * (6 * d + 3 * own.intermediateSize + kind.activationFloats(own) + traitFloats(own));
  // No kernel computes GeGLU's gradient in one go: some tensors of its width are there at a time.
  const ofGeglu = config.activation === 'silu' ? 0 : GEGLU * ofLargestLayer(config, (_, own) => own.intermediateSize);
  const passing = ofGeglu + ofLargestLayer(config, (kind, own) => kind.passingFloats?.(own) ?? 0);
  const inputs = numLayers * (2 * d + 4 * inputWidth(config));
  return {
    plain: 4 * (overLayers(config, layer) + passing),
    checkpointed: 4 * (inputs + ofLargestLayer(config, layer) + passing),
    head: headCost(config),
  };
}

/** A kernel's logits are within what a program works with; those that are capped are in plain ops. */
function headCost({ logitsCap, vocabSize }: ModelConfig): TokenCost['head'] {
  if (logitsCap === null) return { perToken: 0, most: 0 };
  const perToken = 4 * CAPPED_COPIES * vocabSize;
  return { perToken, most: perToken * cappedTokens(vocabSize) };
}

/** Floats a token in a layer that are kept for what an architecture does besides what Llama does. */
function traitFloats(config: ModelConfig): number {
  const { hiddenSize: d, intermediateSize: f } = config;
  const rotated = (config.numHeads + config.numKvHeads) * config.headDim;
  return (
    // An op keeps its inputs: norms and factors after attention and MLP, sums with biases, parts that are rotated.
    (config.norms === 'both' ? 2 * d : 0) +
    (config.residualScale === 1 ? 0 : 2 * d) +
    (config.mlpBias ? 2 * f + d : 0) +
    (config.qkNorm ? rotated : 0) +
    (config.rotaryDim === null ? 0 : rotated) +
    inputFloats(config)
  );
}

/** Of inputs by layer: the gated input, its projection and norm; and of all layers' together, a layer's share. */
function inputFloats(config: ModelConfig): number {
  const { perLayerInput, hiddenSize: d, layerScalar } = config;
  return 7 * inputWidth(config) + (perLayerInput === null ? 0 : 2 * d) + (layerScalar ? d : 0);
}

/** Of a layer's input besides the stream. */
export function inputWidth({ perLayerInput }: Pick<ModelConfig, 'perLayerInput'>): number {
  return perLayerInput?.width ?? 0;
}

/**
 * Chooses between keeping all activations, checkpointing (one more forward pass, everything at once) and parts (one
 * more forward pass, a part at a time); parts are checkpointed too where one sequence alone is too long. `asked`
 * (gradient_checkpointing) overrides the first choice.
 */
export function planPass(
  tokens: number,
  longestSequence: number,
  cost: Pick<TokenCost, 'plain' | 'checkpointed'>,
  budgetBytes: number,
  asked: boolean | null = null,
): PassPlan {
  const plain = Math.floor(budgetBytes / cost.plain);
  const saving = Math.floor(budgetBytes / cost.checkpointed);
  if (asked !== null) {
    return { checkpointing: asked, maxTokens: Math.min(tokens, Math.max(asked ? saving : plain, longestSequence)) };
  }
  if (tokens <= plain) return { checkpointing: false, maxTokens: tokens };
  if (tokens <= saving) return { checkpointing: true, maxTokens: tokens };
  if (longestSequence <= plain) return { checkpointing: false, maxTokens: plain };
  return { checkpointing: true, maxTokens: Math.max(saving, longestSequence) };
}

/** MiB of a pass over all rows at once that keeps every activation. */
export function undividedMb(rows: readonly RowSize[], cost: TokenCost): number {
  return (headBytes(rows, cost) + packedTokens(rows) * cost.plain) / 2 ** 20;
}

/** What the head holds of a part of these rows, or of all. */
function headBytes(rows: readonly RowSize[], { head }: TokenCost): number {
  const predicted = rows.reduce((sum, { completion }) => sum + completion, 0);
  return Math.min(head.most, predicted * head.perToken);
}

/** Tokens of rows in one part: each group's prompt once. */
function packedTokens(rows: readonly RowSize[]): number {
  return rows.reduce((sum, row, i) => sum + row.completion + (rows[i - 1]?.group === row.group ? 0 : row.prompt), 0);
}

/** Packed tokens of a row: its completion's, plus its prompt's, which the rows of a group share. */
export interface RowSize {
  readonly group: number;
  readonly prompt: number;
  readonly completion: number;
}

/**
 * How the rows of a micro-batch are run: in which parts, whether with checkpointing, the peak bytes of a part, and the
 * bytes of logits that it may keep besides for its gradient.
 */
export function planRows(
  rows: readonly RowSize[],
  cost: TokenCost,
  config: Pick<RunConfig, 'activation_memory_mb' | 'gradient_checkpointing'>,
): { readonly parts: RowRange[]; readonly checkpointing: boolean; readonly bytes: number; readonly keptBytes: number } {
  const longest = rows.reduce((most, { prompt, completion }) => Math.max(most, prompt + completion), 0);
  const tokens = packedTokens(rows);
  const head = headBytes(rows, cost);
  const budget = config.activation_memory_mb * 2 ** 20;
  const pass = planPass(tokens, longest, cost, Math.max(0, budget - head), config.gradient_checkpointing);
  const { checkpointing, maxTokens } = pass;
  const bytes = head + maxTokens * (checkpointing ? cost.checkpointed : cost.plain);
  // Logits that are capped are computed again.
  const keptBytes = cost.head.perToken > 0 ? 0 : Math.max(0, Math.min(KEPT_LOGITS, budget - bytes));
  return { parts: cutRows(rows, maxTokens), checkpointing, bytes, keptBytes };
}

/** Bytes of the logits that a part of so many completion tokens keeps on wasm: all of them or none. */
export function keptLogits(keptBytes: number, tokens: number, vocabulary: number): number {
  const bytes = 4 * tokens * vocabulary;
  return bytes <= keptBytes ? bytes : 0;
}

/** Rows [first, end) of a micro-batch that are run together. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Splits rows into parts of at most `maxTokens` packed tokens, in order. A part processes each of its prompts once, so a
 * row costs its completion, plus its prompt if it is the first of its group in the part.
 */
export function cutRows(rows: readonly RowSize[], maxTokens: number): RowRange[] {
  const parts: RowRange[] = [];
  let first = 0;
  let used = 0;
  rows.forEach((row, i) => {
    const joins = i > first && rows[i - 1]?.group === row.group;
    const own = row.completion + (joins ? 0 : row.prompt);
    if (i > first && used + own > maxTokens) {
      parts.push({ first, end: i });
      first = i;
      used = row.completion + row.prompt;
    } else used += own;
  });
  if (rows.length > first) parts.push({ first, end: rows.length });
  return parts;
}
