/**
 * Which records are prompted and which rows form each micro-batch, as a function of (seed, step) alone: a resumed run
 * continues as if it had never stopped. Legend: G completions per group, P prompts (groups) per generation batch.
 *
 * The schedule is TRL's (`RepeatSampler`, `_prepare_inputs`): generate every steps_per_generation × num_iterations
 * micro-batches, cut the rows into steps_per_generation slices, pass over the slices num_iterations times.
 * Deviations: whole groups are shuffled, not single rows, so that a group can share its prompt's forward pass; and
 * records form one endless stream of shuffled epochs, where TRL drops the incomplete last batch of an epoch.
 */
import { BraidError } from '../../errors.ts';
import { hashString, randomStream, shuffled } from '../../random.ts';
import { isReinforcement, type RunConfig, type TrainConfig, trainedGroupSize } from '../config/config.ts';
import { type DifficultyConfig, type DifficultyPlan, planDifficulty } from './difficulty.ts';

export type BatchConfig = Pick<
  TrainConfig,
  | 'num_generations'
  | 'pods_update_size'
  | 'greso_exploration'
  | 'num_iterations'
  | 'steps_per_generation'
  | 'gradient_accumulation_steps'
  | 'per_device_train_batch_size'
  | 'shuffle_dataset'
  | 'seed'
> &
  DifficultyConfig;

/** What says how many steps share a generation. */
export type GenerationConfig = Pick<
  RunConfig,
  'method' | 'num_iterations' | 'steps_per_generation' | 'gradient_accumulation_steps'
>;

export interface BatchPlan {
  readonly records: number;
  readonly seed: number;
  readonly shuffle: boolean;
  /** With what probability a prompt is drawn again after one dead group (prompt-stream.ts); null: as any other. */
  readonly exploration: number | null;
  /** Whether, and how, the difficulty of prompts follows the reward (difficulty.ts). */
  readonly difficulty: DifficultyPlan | null;
  /** G, as far as it is trained on: with PODS, that part of each group. */
  readonly groupSize: number;
  /** P */
  readonly groupsPerGeneration: number;
  readonly rowsPerMicroBatch: number;
  readonly microBatchesPerStep: number;
  readonly stepsPerGeneration: number;
  /** Micro-batches per generation: stepsPerGeneration × iterations. */
  readonly microBatchesPerGeneration: number;
  /**
   * Whether the sampling policy can differ from the one being trained, so that its log-probabilities must be kept.
   * If false, old = stop-gradient of the current ones (TRL: gas % (spg·mu) = 0).
   */
  readonly needsOldLogps: boolean;
}

/** One micro-batch of one optimiser step. */
export interface MicroBatch {
  /** The generation its rows come from. */
  readonly generation: number;
  /** Sample and score that generation first. */
  readonly generate: boolean;
  /** Which pass over the generation, from 0. */
  readonly iteration: number;
  /** Rows of the generation batch; row i is completion i mod G of group ⌊i / G⌋ as `generationRecords` lists them. */
  readonly firstRow: number;
  readonly endRow: number;
}

/** A micro-batch's rows of its generation. */
export function rowsOf({ firstRow, endRow }: Pick<MicroBatch, 'firstRow' | 'endRow'>): number[] {
  return Array.from({ length: endRow - firstRow }, (_, i) => firstRow + i);
}

const EPOCH_STREAM = hashString('epoch');
const GROUP_STREAM = hashString('groups');

/** Computes the plan of a run on `records` records; `difficulties`, by record, are needed for AdaRFT alone. */
export function planBatches(config: BatchConfig, records: number, difficulties: readonly number[] = []): BatchPlan {
  const stepsPerGeneration = config.steps_per_generation ?? config.gradient_accumulation_steps;
  const rows = config.per_device_train_batch_size * stepsPerGeneration;
  if (records < 1)
    throw new BraidError('EMPTY_DATASET', 'Expected at least one record to train on, got none', { kind: 'input' });
  const groupSize = trainedGroupSize(config);
  if (rows % groupSize !== 0) {
    throw new BraidError(
      'BAD_CONFIG',
      `Expected per_device_train_batch_size x steps_per_generation (${rows} completions) to be a multiple of num_generations (${groupSize})`,
      { kind: 'input' },
    );
  }
  const microBatchesPerGeneration = stepsPerGeneration * config.num_iterations;
  return {
    records,
    seed: config.seed,
    shuffle: config.shuffle_dataset,
    exploration: config.greso_exploration,
    difficulty: planDifficulty(config, difficulties),
    groupSize,
    groupsPerGeneration: rows / groupSize,
    rowsPerMicroBatch: config.per_device_train_batch_size,
    microBatchesPerStep: config.gradient_accumulation_steps,
    stepsPerGeneration,
    microBatchesPerGeneration,
    needsOldLogps: config.gradient_accumulation_steps % microBatchesPerGeneration !== 0,
  };
}

/** Optimiser steps in a row that share a generation: one of them samples. 1 without sampling. */
export function stepsSharingGeneration(config: GenerationConfig): number {
  if (!isReinforcement(config.method)) return 1;
  const { gradient_accumulation_steps: perStep, steps_per_generation: perGeneration } = config;
  return Math.ceil(((perGeneration ?? perStep) * config.num_iterations) / perStep);
}

/** The micro-batches of optimiser step `step` (0 is the first). */
export function microBatches(plan: BatchPlan, step: number): readonly MicroBatch[] {
  return Array.from({ length: plan.microBatchesPerStep }, (_, i) => {
    const position = step * plan.microBatchesPerStep + i;
    const within = position % plan.microBatchesPerGeneration;
    const firstRow = (within % plan.stepsPerGeneration) * plan.rowsPerMicroBatch;
    return {
      generation: Math.floor(position / plan.microBatchesPerGeneration),
      generate: within === 0,
      iteration: Math.floor(within / plan.stepsPerGeneration),
      firstRow,
      endRow: firstRow + plan.rowsPerMicroBatch,
    };
  });
}

/**
 * Whether step `step` starts with a new generation, so that nothing of the previous step is needed. A checkpoint
 * before any other step must contain the current generation, or the run can't resume with the same numbers.
 */
export function beginsWithGeneration(plan: BatchPlan, step: number): boolean {
  return (step * plan.microBatchesPerStep) % plan.microBatchesPerGeneration === 0;
}

/**
 * The records [P] of one generation, one per group, in the order of the rows; where no earlier one drew more than P
 * (prompt-stream.ts).
 */
export function generationRecords(plan: BatchPlan, generation: number): readonly number[] {
  const first = generation * plan.groupsPerGeneration;
  const drawn = Array.from({ length: plan.groupsPerGeneration }, (_, i) => recordAt(plan, first + i));
  return groupOrder(plan, drawn, generation);
}

/** The records of a generation in the order of its groups. */
export function groupOrder(plan: BatchPlan, records: readonly number[], generation: number): readonly number[] {
  return shuffled(records, randomStream(plan.seed, GROUP_STREAM, generation));
}

/** Epochs completed after step `step`: prompts drawn so far / records. `extra`: those in addition to P per generation. */
export function epochAfter(plan: BatchPlan, step: number, extra = 0): number {
  const position = (step + 1) * plan.microBatchesPerStep;
  return (position / plan.microBatchesPerGeneration) * (plan.groupsPerGeneration / plan.records) + extra / plan.records;
}

/** Optimiser steps for so many passes over the records. */
export function stepsForEpochs(
  config: BatchConfig & Pick<TrainConfig, 'method'>,
  records: number,
  epochs: number,
): number {
  const { per_device_train_batch_size: rows, gradient_accumulation_steps: microBatches } = config;
  const perStep = isReinforcement(config.method)
    ? epochAfter(planBatches(config, records), 0)
    : (rows * microBatches) / records;
  // Rounding may put a whole number a little higher: that isn't another step.
  return Math.max(1, Math.ceil(epochs / perStep - 1e-6));
}

// An epoch's order is queried record by record: cache the last one. It is a pure function of its key.
let lastEpoch: { readonly key: string; readonly order: readonly number[] } | null = null;

/** The record at an index of the endless stream of (shuffled) epochs. */
export function recordAt(plan: Pick<BatchPlan, 'records' | 'seed' | 'shuffle'>, position: number): number {
  const epoch = Math.floor(position / plan.records);
  const within = position % plan.records;
  if (!plan.shuffle) return within;
  const key = `${plan.seed}/${plan.records}/${epoch}`;
  if (lastEpoch?.key !== key) {
    const identity = Array.from({ length: plan.records }, (_, i) => i);
    lastEpoch = { key, order: shuffled(identity, randomStream(plan.seed, EPOCH_STREAM, epoch)) };
  }
  return lastEpoch.order[within] ?? within;
}
