/**
 * How long a policy's work takes on this machine, from a few seconds of it: packed passes by their multiplications,
 * attention apart by the pairs of tokens that it compares, and decoding steps at two depths of the cache.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { ModelConfig } from '../../model/config.ts';
import { openDecoding } from '../../model/decoding.ts';
import { layerConfig } from '../../model/layer-sizes.ts';
import { attentionLayers, keepingLayers, mixerOf } from '../../model/mixers/index.ts';
import type { PromptGroup } from '../../model/pack.ts';
import type { Parameter } from '../../model/parameter.ts';
import { attendPacked, type ReadRow, stateKey } from '../../model/sequences.ts';
import { pulse } from '../../pulse.ts';
import { gradients } from '../../tensor/backward.ts';
import type { PrefixKv } from '../../tensor/ops/kv-cache.ts';
import { type PendingRead, startRead } from '../../tensor/ops/pending-read.ts';
import { disposeBatch, uploadGroups } from '../batching/packed-batch.ts';
import { weightCount } from '../memory/budget.ts';
import { completionLogps, hostLogps, lossAndGradients, type Policy } from '../policy/policy.ts';

/** What a packed pass computes. */
export interface PassWork {
  /** Multiplications by weights. */
  readonly products: number;
  /** Pairs of a token and one that it attends to, in one layer. */
  readonly pairs: number;
}

/** Seconds of passes over a batch. */
export interface PassTimes {
  /** A forward pass and its gradient. */
  training(work: PassWork): number;
  /** A forward pass alone. */
  forward(work: PassWork): number;
}

/** Seconds that one kind of measurement may take; at least one round is always done. */
const ATTENTION_SECONDS = 1;
const TRAINING_SECONDS = 2;
const FORWARD_SECONDS = 1;
const DECODE_SECONDS = 2;
/** Short passes that take longer are of a model of which three passes are all that fit. */
const SLOW_PASS_SECONDS = 0.5;
/** Packed tokens of the smaller passes, and how many times as many those of the larger ones have at least. */
const FEW_TOKENS = 16;
const LEAST_GROWTH = 3;
/** Rounds after which a time that no longer falls counts as settled: code gets faster as the engine optimises it. */
const MOST_ROUNDS = 8;
/** Decoding steps timed at each depth. */
const DECODE_STEPS = 4;
/** Steps that are taken where two are timed. */
const LEAST_STEPS = 3;

/** The work of a pass over groups, their prompts computed once. */
export function workOf(config: ModelConfig, groups: readonly PromptGroup[]): PassWork {
  const head = config.vocabSize * config.hiddenSize;
  const block = weightCount(config) - head * (config.tieWordEmbeddings ? 1 : 2);
  let [tokens, predicted, pairs] = [0, 0, 0];
  for (const { promptIds, completions } of groups) {
    const prompt = promptIds.length;
    tokens += prompt;
    pairs += triangle(prompt);
    for (const { length } of completions) {
      const own = Math.max(length - 1, 0);
      tokens += own;
      predicted += length;
      pairs += own * prompt + triangle(own);
    }
  }
  return { products: tokens * block + predicted * head, pairs };
}

const triangle = (n: number): number => (n * (n + 1)) / 2;

/**
 * Times passes like the one over `groups`, on as much of them as the time allows, in the way that the run does them.
 * A pass costs something by itself too: the weights are read, packed and, if they have 16 bits, widened once. On large
 * models that is a third of a short pass, so passes of two sizes are timed, with and without a gradient.
 */
export function timePasses(
  policy: Policy,
  parameters: readonly Parameter[],
  groups: readonly PromptGroup[],
  temperature: number,
  checkpointing: boolean,
): PassTimes {
  const { config } = policy.model;
  const attention = timeAttention(config, groups);
  // Recomputed layers attend a second time.
  const attending = attention.training + (checkpointing ? attention.forward : 0);
  const forward = (some: readonly PromptGroup[]) => () => forwardPass(policy, some, temperature);
  const training = (some: readonly PromptGroup[]) => () =>
    trainingPass(policy, parameters, some, temperature, checkpointing);
  const timed = (some: readonly PromptGroup[], pass: () => number, most: number, perPair: number): TimedPass => {
    const { products, pairs } = workOf(config, some);
    return { products, seconds: byWeights(settled(pass, most), pairs * perPair) };
  };
  const few = cutGroups(groups, FEW_TOKENS);
  const shortForward = timed(few, forward(few), FORWARD_SECONDS / 2, attention.forward);
  const shortTraining =
    shortForward.seconds > SLOW_PASS_SECONDS ? null : timed(few, training(few), TRAINING_SECONDS / 2, attending);
  const growth = TRAINING_SECONDS / 2 / Math.max(shortTraining?.seconds ?? TRAINING_SECONDS, 1e-6);
  const many = cutGroups(groups, Math.max(LEAST_GROWTH, growth) * FEW_TOKENS);
  const grows = workOf(config, many).products > LEAST_DIFFERENCE * shortForward.products;
  const longForward = grows ? timed(many, forward(many), FORWARD_SECONDS, attention.forward) : shortForward;
  const alone = passLine(shortForward, longForward);
  const longTraining =
    grows || shortTraining === null ? timed(many, training(many), TRAINING_SECONDS, attending) : shortTraining;
  const both = shortTraining === null ? lineLike(alone, longTraining) : passLine(shortTraining, longTraining);
  return {
    training: ({ products, pairs }) => both.fixed + products * both.perProduct + pairs * attending,
    forward: ({ products, pairs }) => alone.fixed + products * alone.perProduct + pairs * attention.forward,
  };
}

/** Seconds of a pass, attention apart. */
export interface PassLine {
  readonly fixed: number;
  readonly perProduct: number;
}

interface TimedPass {
  readonly products: number;
  readonly seconds: number;
}

/** Passes that differ by less say little about what a pass costs by itself. */
const LEAST_DIFFERENCE = 1.5;
/** What a pass costs by itself is at most this share of the larger one: more is a moment when the machine was busy. */
const MOST_FIXED = 0.6;

/** The line through a shorter and a longer pass; through zero if they are the same. */
export function passLine(short: TimedPass, long: TimedPass): PassLine {
  const difference = long.products - short.products;
  const slope = difference === 0 ? Number.POSITIVE_INFINITY : (long.seconds - short.seconds) / difference;
  const fixed = Math.min(Math.max(0, short.seconds - slope * short.products), MOST_FIXED * long.seconds);
  return { fixed, perProduct: (long.seconds - fixed) / long.products };
}

/** The line through one pass whose cost by itself is the same share of it as `other`'s is at its size. */
export function lineLike(other: PassLine, pass: TimedPass): PassLine {
  const ratio = pass.seconds / (other.fixed + pass.products * other.perProduct);
  return { fixed: ratio * other.fixed, perProduct: ratio * other.perProduct };
}

/** A pass's seconds without attention's; a share is left if that was measured too long. */
function byWeights(seconds: number, attending: number): number {
  return Math.max(seconds - attending, seconds / 4);
}

/** Some of the groups: whole ones up to `tokens`, or rows of the first, or the beginning of its first row. */
export function cutGroups(groups: readonly PromptGroup[], tokens: number): PromptGroup[] {
  const some: PromptGroup[] = [];
  let used = 0;
  for (const group of groups) {
    const kept: (readonly number[])[] = [];
    let needed = group.promptIds.length;
    for (const completion of group.completions) {
      const own = Math.max(completion.length - 1, 0);
      if (used + needed + own > tokens) break;
      needed += own;
      kept.push(completion);
    }
    if (kept.length === 0) break;
    some.push({ promptIds: group.promptIds, completions: kept });
    used += needed;
    if (kept.length < group.completions.length) break;
  }
  const [first] = groups;
  if (some.length > 0 || first === undefined) return some;
  const [completion = []] = first.completions;
  const share = Math.min(1, tokens / Math.max(1, first.promptIds.length + completion.length));
  const part = (ids: readonly number[]): readonly number[] => ids.slice(0, Math.max(2, Math.floor(share * ids.length)));
  return [{ promptIds: part(first.promptIds), completions: [part(completion)] }];
}

function trainingPass(
  policy: Policy,
  parameters: readonly Parameter[],
  groups: readonly PromptGroup[],
  temperature: number,
  checkpointing: boolean,
): number {
  const began = performance.now();
  const batch = uploadGroups(groups);
  try {
    tf.tidy(() => {
      const loss = () => tf.sum(completionLogps(policy, batch, temperature, { checkpointing }).logps) as tf.Scalar;
      // Reading one number waits for all pending work.
      lossAndGradients(loss, parameters).grads[0]?.dataSync();
    });
  } finally {
    disposeBatch(batch);
  }
  return (performance.now() - began) / 1000;
}

function forwardPass(policy: Policy, groups: readonly PromptGroup[], temperature: number): number {
  const began = performance.now();
  const batch = uploadGroups(groups);
  try {
    hostLogps(policy, batch, temperature);
  } finally {
    disposeBatch(batch);
  }
  return (performance.now() - began) / 1000;
}

/** Seconds a pair of tokens in all layers, on a prompt with one completion as long as those of the first group. */
function timeAttention(config: ModelConfig, groups: readonly PromptGroup[]) {
  const [
    {
      promptIds,
      completions: [completion = []],
    } = { promptIds: [0], completions: [[0]] },
  ] = groups;
  const [prompt, own] = [promptIds.length, Math.max(completion.length - 1, 1)];
  const pairs = triangle(prompt) + own * prompt + triangle(own);
  const segments = tf.tensor2d([0, prompt, 0, 0, prompt, own, 0, prompt], [2, 4], 'int32');
  const heads = (layer: number): [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D] => {
    const { numHeads, numKvHeads, headDim } = layerConfig(config, layer);
    return [numHeads, numKvHeads, numKvHeads].map((count) =>
      tf.randomUniform<tf.Rank.R2>([prompt + own, count * headDim], -1, 1, 'float32', 1),
    ) as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
  };
  const attend = attendPacked(config, segments);
  const timed = (work: () => tf.Tensor | null | undefined): number => {
    const began = performance.now();
    tf.tidy(() => void work()?.dataSync());
    return (performance.now() - began) / 1000;
  };
  const kinds = attentionKinds(config, prompt + own);
  type Work = (attended: () => tf.Tensor2D, qkv: readonly tf.Tensor2D[]) => tf.Tensor | null | undefined;
  const inAllLayers = (most: number, work: Work): number =>
    kinds.reduce((sum, { layer, count }) => {
      const qkv = heads(layer);
      const attended = (): tf.Tensor2D => attend(layer, ...qkv, false);
      try {
        return sum + count * settled(() => timed(() => work(attended, qkv)), most / kinds.length);
      } finally {
        tf.dispose(qkv);
      }
    }, 0);
  try {
    const forward = inAllLayers(ATTENTION_SECONDS / 4, (attended) => attended());
    const both = inAllLayers(ATTENTION_SECONDS, (attended, qkv) => gradients(() => tf.sum(attended()), qkv).grads[0]);
    return { forward: forward / pairs, training: both / pairs };
  } finally {
    segments.dispose();
  }
}

/** Layers that attend in the same way to a text of so many tokens: the first of them, and how many there are. */
export function attentionKinds(
  config: Pick<ModelConfig, 'numLayers' | 'window' | 'windowLayers' | 'recurrent' | 'wideHeads'>,
  tokens: number,
): readonly { readonly layer: number; readonly count: number }[] {
  const { window, windowLayers } = config;
  const layers = attentionLayers(config);
  // Windowed attention is computed in another way only where a text is longer than the window, or heads differ.
  const matters = window !== null && (tokens > window || config.wideHeads !== null);
  const isWindowed = (layer: number): boolean => matters && windowLayers.includes(layer);
  const kinds = [layers.filter((layer) => !isWindowed(layer)), layers.filter(isWindowed)];
  return kinds.flatMap(([layer, ...others]) => (layer === undefined ? [] : [{ layer, count: 1 + others.length }]));
}

/** What is decoded together. */
export interface DecodeShape {
  /** Rows of each prompt, and the prompts' tokens. */
  readonly prompts: readonly { readonly tokens: number; readonly rows: number }[];
  /** Tokens that a row writes, and the most that it may. */
  readonly steps: number;
  readonly capacity: number;
}

/**
 * Seconds of a decoding step, averaged over a completion: the mean of steps at a quarter and at three quarters of it,
 * which is exact for a cost that grows with the depth. The caches hold nothing, only their sizes count.
 */
export function timeDecoding(policy: Policy, { prompts, steps, capacity }: DecodeShape): number {
  const { vocabSize } = policy.model.config;
  let tokens = 0;
  const rows = prompts.flatMap(({ tokens: length, rows: count }) => {
    const start = tokens;
    tokens += length;
    return Array.from({ length: count }, () => ({ start, length, sequence: 0 }));
  });
  const ids = rows.map((_, row) => row % vocabSize);
  const [early, deep] = [Math.floor(steps / 4), Math.floor((3 * steps) / 4)];
  const round = (): number => {
    const run = openOverZeros(policy, tokens, rows, Math.max(capacity, 2 * DECODE_STEPS + 2));
    let at = 0;
    const skipTo = (depth: number): void => {
      if (depth > at) run.skip(depth - at);
      at = Math.max(at, depth);
    };
    const mean = (count: number): number => {
      const began = performance.now();
      let before: PendingRead | null = null;
      try {
        for (let i = 0; i < count; i++) {
          pulse();
          at++;
          const end = readEnd(run.step(ids));
          // As `generate` does where the backend can: a step starts before the end of the one before is waited for.
          before?.wait();
          before = end;
        }
        before?.wait();
      } finally {
        before?.cancel();
      }
      return (performance.now() - began) / 1000 / count;
    };
    try {
      skipTo(early);
      // The first one finds nothing prepared, so it never counts.
      const first = mean(1);
      // There may be no positions for more.
      if (steps < LEAST_STEPS) return first;
      const count = Math.min(DECODE_STEPS, Math.floor(DECODE_SECONDS / 4 / first), Math.floor(steps / 4));
      const atQuarter = mean(Math.max(1, count));
      skipTo(deep);
      return (atQuarter + mean(Math.max(1, count))) / 2;
    } finally {
      run.dispose();
    }
  };
  return settled(round, DECODE_SECONDS);
}

/** Starts to read what is there once the step is done; null: it was waited for. Frees the logits. */
function readEnd(logits: tf.Tensor2D): PendingRead | null {
  let most: tf.Tensor | null = null;
  try {
    most = tf.max(logits);
    const read = startRead(most);
    if (read === null) most.dataSync();
    return read;
  } finally {
    most?.dispose();
    logits.dispose();
  }
}

/** Decoding after prompts of so many tokens, all zeros; nothing of it outlives a failure, which may be of memory. */
function openOverZeros(
  { model, adapter }: Policy,
  tokens: number,
  rows: readonly ReadRow[],
  capacity: number,
): ReturnType<typeof openDecoding> {
  const { config } = model;
  const made: tf.Tensor[] = [];
  const zeros = (shape: [number, number]): tf.Tensor2D => {
    const tensor = tf.zeros<tf.Rank.R2>(shape);
    made.push(tensor);
    return tensor;
  };
  try {
    const kv = keepingLayers(config).map((layer): PrefixKv => {
      pulse();
      const { numKvHeads, headDim } = layerConfig(config, layer);
      const shape: [number, number] = [tokens, numKvHeads * headDim];
      return { k: zeros(shape), v: zeros(shape) };
    });
    const states = Array.from({ length: config.numLayers }, (_, layer) =>
      mixerOf(config, layer)
        .stateWidths(config)
        .map((width, slot) => [stateKey(layer, slot), zeros([1, width])] as const),
    );
    return openDecoding(model, adapter, { kv, states: new Map(states.flat()) }, rows, capacity);
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}

/** The least time of repeated work, until it no longer falls or `most` seconds have passed. */
function settled(work: () => number, most: number): number {
  const began = performance.now();
  let least = work();
  for (let round = 1; round < MOST_ROUNDS && performance.now() - began < 1000 * most; round++) {
    const next = work();
    const steady = next > 0.9 * least;
    least = Math.min(least, next);
    if (steady && round > 1) break;
  }
  return least;
}
