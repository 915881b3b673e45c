/** What the trainer process tells its host, and what the host may tell it. Discriminated by `kind`. */

export type Metrics = Readonly<Record<string, number>>;

/** One completion as it is stored: text, rewards and where it stands in its group. */
export interface Sample {
  readonly recordId: string;
  /** Which group of the step, and which completion of the group. */
  readonly group: number;
  readonly index: number;
  readonly prompt: string;
  readonly target: string;
  readonly completion: string;
  readonly reward: number;
  readonly advantage: number;
  readonly components: Readonly<Record<string, number>>;
  /** Tokens, its end included. */
  readonly length: number;
  /** False when the completion ran into max_completion_length. */
  readonly terminated: boolean;
}

export interface EvaluationItem {
  readonly id: string;
  readonly completion: string;
  readonly metrics: Metrics;
}

/** Why something ended badly, as it crosses the process border. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
  /** Whether the person's input was at fault. */
  readonly input: boolean;
}

export type WarningRule = 'dead_groups' | 'entropy' | 'kl' | 'repetition' | 'not_finite';

export type TrainerEvent =
  /** A sign of life in the middle of long work. */
  | { readonly kind: 'alive' }
  | {
      readonly kind: 'ready';
      readonly backend: string;
      readonly threads: number;
      readonly why: string;
      readonly parameters: number;
      readonly trainable: number;
      /** Steps that the run is to have. */
      readonly maxSteps: number;
      /** Tokens that a completion may have, configured or computed from the dataset. */
      readonly maxCompletionLength: number;
    }
  /** What the steps that are left will take, from a short calibration. */
  | {
      readonly kind: 'estimate';
      readonly step: number;
      readonly secondsPerStep: number;
      readonly seconds: number;
      readonly memoryBytes: number;
    }
  | { readonly kind: 'step'; readonly step: number; readonly metrics: Metrics }
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
  /** Something worth knowing that is no alarm. */
  | {
      readonly kind: 'notice';
      readonly step: number;
      readonly topic: string;
      readonly message: string;
      readonly remedy: string;
    }
  /** `byWatch`: the collapse watch paused the run, not a person. */
  | { readonly kind: 'paused'; readonly step: number; readonly reason: string; readonly byWatch: boolean }
  | { readonly kind: 'resumed'; readonly step: number }
  | { readonly kind: 'done'; readonly step: number; readonly path: string | null; readonly stopped: boolean }
  | ({ readonly kind: 'failed'; readonly step: number } & Failure);

/** What a job other than training tells: it has no run, so the history never sees these. */
export type JobEvent =
  | { readonly kind: 'ready'; readonly backend: string; readonly threads: number; readonly why: string }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number; readonly unit: string }
  /** A text that grows: all of it so far. Leaves in the middle of synchronous work. */
  | { readonly kind: 'text'; readonly text: string; readonly tokens: number }
  /** The last event of a job that went well; jobs.ts says which job gives what. */
  | { readonly kind: 'result'; readonly value: unknown }
  | ({ readonly kind: 'failed' } & Failure);

export type TrainerCommand =
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** Finish the step in hand, write a checkpoint, end. */
  | { readonly kind: 'stop' };
