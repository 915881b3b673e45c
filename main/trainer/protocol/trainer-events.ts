/** Events from the trainer process to its host, and commands in return. Discriminated by `kind`. */

import type { ChatMessage } from '../../samples/chat-message.ts';
import type { Written } from '../../samples/completion.ts';
import type { Sample } from '../../samples/sample.ts';
import type { AnswerCommand, AnswerEvent } from './answers.ts';
import type { Failure } from './failure.ts';

/** What completions that were sampled before the first step say of a limit. */
export interface SampledLengths {
  readonly completions: number;
  /** Those that the limit cuts off. */
  readonly cut: number;
  /** Mean of their tokens, up to the limit. */
  readonly tokens: number;
}

export type Metrics = Readonly<Record<string, number>>;

/**
 * What the sampled group of a prompt had to teach: its rewards differ, or all are equal, (nearly) the highest there is
 * (solved) or below it (dead).
 */
export interface GroupOutcome {
  readonly recordId: string;
  readonly outcome: 'teaches' | 'solved' | 'dead';
  /** The mean reward of the group. */
  readonly reward: number;
}

export interface EvaluationItem extends Written {
  readonly id: string;
  readonly metrics: Metrics;
}

export type WarningRule = 'dead_groups' | 'entropy' | 'kl' | 'no_progress' | 'repetition' | 'not_finite';

/** The notice of a run that ended before its first step, as its stage's goal was met. */
export const MET_TOPIC = 'met_without_training';

/** The topic of the notice that a run's warm-up is done. */
export const WARM_TOPIC = 'warm';

export type TrainerEvent =
  /** A heartbeat during long work, with the size of the process. */
  | { readonly kind: 'alive'; readonly memoryBytes?: number }
  | {
      readonly kind: 'ready';
      readonly backend: string;
      readonly threads: number;
      readonly why: string;
      readonly parameters: number;
      readonly trainable: number;
      /** Total steps of the run. */
      readonly maxSteps: number;
      /** Maximum tokens of a completion: configured, from the dataset's targets, or from completions. */
      readonly maxCompletionLength: number;
      /** What completions that were sampled first make of it; absent: none were. */
      readonly sampled?: SampledLengths;
    }
  /** Estimate for the remaining steps, from a short calibration. */
  | {
      readonly kind: 'estimate';
      readonly step: number;
      readonly secondsPerStep: number;
      /** Of a step whose completions all reach their limit; absent: hardly more. */
      readonly limitSecondsPerStep?: number;
      /** Absent: the run has none. */
      readonly secondsPerEvaluation?: number;
      /** Whether rewards outside the sandbox come on top. */
      readonly withoutRewards?: boolean;
      readonly seconds: number;
      /** Of the machine's memory, and of a GPU's own beside it. */
      readonly memoryBytes: number;
      readonly gpuBytes?: number;
      /** What the run uses for caches and activations at a time, in MiB. */
      readonly activationMb: number;
    }
  /** `groups`: every group that the step sampled, in order; none where it reuses a generation. */
  | {
      readonly kind: 'step';
      readonly step: number;
      readonly metrics: Metrics;
      readonly groups?: readonly GroupOutcome[];
    }
  | { readonly kind: 'samples'; readonly step: number; readonly samples: readonly Sample[] }
  | { readonly kind: 'checkpoint'; readonly step: number; readonly path: string }
  | {
      readonly kind: 'evaluation';
      readonly step: number;
      readonly metrics: Metrics;
      readonly items: readonly EvaluationItem[];
    }
  | {
      readonly kind: 'warning';
      readonly step: number;
      readonly rule: WarningRule | 'reward_gaming' | 'component_silent';
      readonly message: string;
      readonly remedy: string;
    }
  /** Worth knowing, but not a warning. */
  | {
      readonly kind: 'notice';
      readonly step: number;
      readonly topic: string;
      readonly message: string;
      readonly remedy: string;
    }
  /** `byWatch`: the collapse watch paused the run, not the user. */
  | { readonly kind: 'paused'; readonly step: number; readonly reason: string; readonly byWatch: boolean }
  | { readonly kind: 'resumed'; readonly step: number }
  | {
      readonly kind: 'done';
      readonly step: number;
      readonly path: string | null;
      readonly stopped: boolean;
      /** What the last step is still to have, as no step follows. */
      readonly metrics?: Metrics;
    }
  | ({ readonly kind: 'failed'; readonly step: number } & Failure);

/** Events of jobs other than training: they have no run, so they aren't stored in the history. */
export type JobEvent =
  | {
      readonly kind: 'ready';
      readonly backend: string;
      readonly threads: number;
      readonly why: string;
      /** What a person should know before a result is trusted or waited for. */
      readonly warning?: string;
    }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number; readonly unit: string }
  /** A heartbeat during long work. */
  | { readonly kind: 'alive' }
  /** The full text generated so far. Sent in the middle of synchronous work. */
  | { readonly kind: 'text'; readonly text: string; readonly tokens: number }
  /** A conversation after one of its turns; texts then are of the next one. */
  | { readonly kind: 'messages'; readonly messages: readonly ChatMessage[]; readonly tokens: number }
  /** A model is loaded and can be asked; `context`: tokens of a prompt and its completion. */
  | { readonly kind: 'kept'; readonly context: number; readonly hasChatTemplate: boolean }
  /** Sent in the middle of synchronous work. */
  | { readonly kind: 'answer'; readonly id: number; readonly event: AnswerEvent }
  /** The last event of a successful job; jobs.ts types the results. */
  | { readonly kind: 'result'; readonly value: unknown }
  | ({ readonly kind: 'failed' } & Failure);

export type TrainerCommand =
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** Finish the current step, write a checkpoint, end. */
  | { readonly kind: 'stop' };

/** What the host sends after the job. */
export type HostCommand = TrainerCommand | AnswerCommand;
