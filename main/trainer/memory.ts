/**
 * How much memory the activations of a training pass take, and how a micro-batch is cut so that they fit. The counts
 * follow the decoder's operations; the factors between floats that are named here and bytes at the peak were measured
 * (docs/performance.md says how).
 */
import type { ModelConfig } from '../model/config.ts';
import type { TrainConfig } from './config.ts';

/** Bytes a packed token takes at the peak of a forward and backward pass. */
export interface TokenCost {
  /** With every activation kept. */
  readonly plain: number;
  /** With gradient checkpointing by layer. */
  readonly checkpointed: number;
}

/** How a micro-batch is run. */
export interface PassPlan {
  readonly checkpointing: boolean;
  /** Packed tokens of one part; a micro-batch of more is cut into parts. */
  readonly maxTokens: number;
}

/** What an op at work and the gradient on its way take beside the saved ones, which are those counted below. */
const PEAK = 1.2;

/** The cost of a token for a model, with or without an adapter: its own products are not kept. */
export function tokenCost(config: ModelConfig): TokenCost {
  const { hiddenSize: d, intermediateSize: f, numLayers, headDim } = config;
  const [queries, keys] = [config.numHeads * headDim, config.numKvHeads * headDim];
  const layer = PEAK * (6 * d + 2 * queries + 2 * keys + 3 * f);
  return { plain: 4 * numLayers * layer, checkpointed: 4 * (2 * numLayers * d + layer) };
}

/**
 * Chooses between keeping all activations, checkpointing (one more forward pass, everything at once) and parts (one
 * more forward pass, a part at a time); parts are checkpointed too where one sequence alone is too long. `asked`
 * (gradient_checkpointing) decides the first question.
 */
export function planPass(
  tokens: number,
  longestSequence: number,
  cost: TokenCost,
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

/** Packed tokens of a row: its completion's, and its prompt's, which the rows of a group share. */
export interface RowSize {
  readonly group: number;
  readonly prompt: number;
  readonly completion: number;
}

/** How the rows of a micro-batch are run: in which parts, and whether with checkpointing. */
export function planRows(
  rows: readonly RowSize[],
  cost: TokenCost,
  config: Pick<TrainConfig, 'activation_memory_mb' | 'gradient_checkpointing'>,
): { readonly parts: RowRange[]; readonly checkpointing: boolean } {
  const longest = rows.reduce((most, { prompt, completion }) => Math.max(most, prompt + completion), 0);
  const tokens = rows.reduce(
    (sum, row, i) => sum + row.completion + (rows[i - 1]?.group === row.group ? 0 : row.prompt),
    0,
  );
  const pass = planPass(tokens, longest, cost, config.activation_memory_mb * 2 ** 20, config.gradient_checkpointing);
  return { parts: cutRows(rows, pass.maxTokens), checkpointing: pass.checkpointing };
}

/** Rows [first, end) of a micro-batch that are run together. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Cuts rows into parts of at most `maxTokens` packed tokens, in order. A part reads each of its prompts once, so a
 * row costs its completion, and its prompt too where it is the first of its group in the part.
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
