/**
 * Where a run's compute happens. The training loops are written once, against this: the local engine (local/) computes
 * here by a tensor backend, the remote one (tinker/) asks a server. Rewards, advantages, losses, batches and history stay
 * with the loop. P prompts, G completions per prompt, R = P*G rows; row i belongs to prompt floor(i / G).
 */
import type { GenerateOptions } from '../../model/generate.ts';
import type { PromptGroup } from '../../model/pack.ts';
import type { TurnTaking } from '../../model/turns.ts';
import type { Completion } from '../../samples/completion.ts';
import type { BatchPlan, MicroBatch } from '../batching/batching.ts';
import type { Generation, ScoredGeneration } from '../batching/generation.ts';
import type { RunConfig } from '../config/config.ts';
import type { TokenSum } from '../losses/adaptive-entropy.ts';

/** How completions are sampled; the engine knows what ends them. */
export interface Sampling extends Omit<GenerateOptions, 'inBatches' | 'eosTokenIds' | 'onRow' | 'stops'> {
  /** Who answers between turns; absent: a completion is one turn. */
  readonly turns?: TurnTaking;
}

/** Prompts [P] and their completions [R]. */
export type Rows = Pick<Generation, 'prompts' | 'completions'>;

export interface EngineFacts {
  /** The backend, or the remote engine's name. */
  readonly name: string;
  readonly threads: number;
  /** Why this one, in one sentence. */
  readonly why: string;
  /** Of the model; null: a server doesn't say. */
  readonly parameters: number | null;
  readonly trainable: number | null;
  readonly vocabSize: number;
  /** Whether `logps` knows a reference. */
  readonly hasReference: boolean;
}

/** What a loss over one micro-batch reports. */
export interface LossReport {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Of the tokens that keep their policy term. */
  readonly entropy: TokenSum;
}

export interface StepReport {
  /** Global norm before clipping; null: a server doesn't say. */
  readonly gradNorm: number | null;
}

/** A file of a checkpoint: its name and content. */
export type CheckpointFile = readonly [name: string, content: string | Uint8Array | Iterable<Uint8Array>];

export interface Engine {
  describe(): EngineFacts;
  /** G completions of every prompt, one prompt's after the other's; of several turns where `sampling` says so. [R] */
  sample(prompts: readonly (readonly number[])[], sampling: Sampling): Promise<readonly Completion[]>;
  /** Log-probabilities of every row's completion, one array per row. [R] */
  logps(rows: Rows, plan: BatchPlan, of: 'policy' | 'reference'): Promise<readonly Float32Array[]>;
  /** Adds the gradient of the policy loss on a micro-batch (losses.ts). */
  policyLoss(config: RunConfig, plan: BatchPlan, generation: ScoredGeneration, micro: MicroBatch): Promise<LossReport>;
  /** Adds the gradient of -sum of log p(completion token) / number of them, over all micro-batches. */
  targetLoss(
    microBatches: readonly (readonly PromptGroup[])[],
  ): Promise<{ readonly loss: number; readonly entropy: number | null }>;
  /** Adds the gradient of sum of dlogp * log p(completion); one factor a row. */
  backward(rows: Rows, groupSize: number, dlogp: readonly number[]): Promise<void>;
  /** One optimiser step on the gradients added since the last. */
  step(learningRate: number): Promise<StepReport>;
  /** Makes the policy as it is the start of what follows: the optimiser's state is fresh, the reference a copy of it. */
  rebase(): Promise<void>;
  /** Mixes the policy's weights into the reference's, if there is one. */
  syncReference(): void;
  /** The weights and whatever else the engine needs to continue from there, for the checkpoint of this step. */
  save(step: number): Promise<readonly CheckpointFile[]>;
  /** Continues from such a checkpoint's folder. */
  load(folder: string): Promise<void>;
  /** Starts from a checkpoint's weights alone. */
  startFrom(folder: string): Promise<void>;
  /** Seconds of the step by what they were spent on, and other figures that only the engine knows; resets. */
  takeMetrics(): Readonly<Record<string, number>>;
  dispose(): Promise<void>;
}
