/** Log-probabilities of given completions, as a model with or without an adapter gives them. */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { forward } from './decoder.ts';
import { logProbabilities } from './head.ts';
import type { Adapter } from './lora.ts';
import type { Model } from './model.ts';
import { packedLength, packGroups } from './pack.ts';
import { packedSequences } from './sequences.ts';

/** A completion to score, with its prompt. */
export interface ScoreItem {
  readonly promptIds: readonly number[];
  readonly completionIds: readonly number[];
}

export interface ScoreOptions {
  /** Tokens of a packed batch; a longer sequence gets a batch of its own. Default 2,048. */
  readonly maxTokens?: number;
  /** Called after each batch with the number of items done. */
  readonly onBatch?: (done: number) => void;
}

/** Items that share a prompt, by index. */
interface Group {
  readonly promptIds: readonly number[];
  readonly items: number[];
}

/** Log-probability of every completion token at temperature 1, in nats, item by item. */
export function scoreCompletions(
  model: Model,
  adapter: Adapter | null,
  items: readonly ScoreItem[],
  options: ScoreOptions = {},
): Float32Array[] {
  items.forEach((item, index) => {
    checkItem(model, item, index);
  });
  const scores = items.map(({ completionIds }) => new Float32Array(completionIds.length));
  let done = 0;
  for (const batch of batches(items, options.maxTokens ?? 2048)) {
    const order = batch.flatMap((group) => group.items);
    const logps = scoreBatch(model, adapter, items, batch);
    let at = 0;
    for (const index of order) {
      const row = scores[index] as Float32Array;
      row.set(logps.subarray(at, at + row.length));
      at += row.length;
    }
    done += order.length;
    options.onBatch?.(done);
  }
  return scores;
}

/** Batches of groups: equal prompts together, each batch at most `maxTokens` long unless a single sequence is longer. */
function batches(items: readonly ScoreItem[], maxTokens: number): Group[][] {
  const byPrompt = Map.groupBy(items.keys(), (index) => (items[index] as ScoreItem).promptIds.join());
  const list: Group[][] = [];
  let used = Infinity;
  for (const indices of byPrompt.values()) {
    const promptIds = (items[indices[0] as number] as ScoreItem).promptIds;
    let group: Group | null = null;
    for (const index of indices) {
      const own = packedLength({ promptIds: [], completions: [(items[index] as ScoreItem).completionIds] });
      const needed: number = own + (group === null ? promptIds.length : 0);
      if (group !== null && used + needed <= maxTokens) {
        group.items.push(index);
        used += needed;
        continue;
      }
      group = { promptIds, items: [index] };
      const full = used + promptIds.length + own > maxTokens;
      if (full) list.push([group]);
      else list.at(-1)?.push(group);
      used = (full ? 0 : used) + promptIds.length + own;
    }
  }
  return list;
}

function scoreBatch(
  model: Model,
  adapter: Adapter | null,
  items: readonly ScoreItem[],
  batch: readonly Group[],
): Float32Array {
  const packed = packGroups(
    batch.map((group) => ({
      promptIds: group.promptIds,
      completions: group.items.map((index) => (items[index] as ScoreItem).completionIds),
    })),
  );
  if (packed.targets.length === 0) return new Float32Array(0);
  return tf.tidy(() => {
    const row = (values: Int32Array): tf.Tensor1D => tf.tensor1d(values, 'int32');
    const segments = tf.tensor2d(packed.segments, [packed.segments.length / 4, 4], 'int32');
    const tokens = { ids: row(packed.ids), positions: row(packed.positions) };
    const hidden = forward(model, tokens, adapter, packedSequences(model.config, segments)); // [N, D]
    const predicting = gatherRows(hidden, row(packed.predictors)); // [T, D]
    const options = { temperature: 1, trainWeight: false };
    return logProbabilities(model, predicting, row(packed.targets), options).logps.dataSync<'float32'>();
  });
}

function checkItem(model: Model, { promptIds, completionIds }: ScoreItem, index: number): void {
  const where = `item ${index + 1}`;
  if (promptIds.length === 0)
    throw inputError('EMPTY_PROMPT', `${where}: expected a prompt of at least one token, got none`);
  const length = promptIds.length + completionIds.length;
  if (length > model.maxLength) {
    throw inputError(
      'CONTEXT_TOO_SHORT',
      `${where}: prompt and completion are ${length} tokens, the model was loaded for ${model.maxLength}`,
    );
  }
  const { vocabSize } = model.config;
  const foreign = [...promptIds, ...completionIds].find((id) => !Number.isInteger(id) || id < 0 || id >= vocabSize);
  if (foreign !== undefined)
    throw inputError('BAD_TOKEN_ID', `${where}: expected token ids from 0 to ${vocabSize - 1}, got ${foreign}`);
}
