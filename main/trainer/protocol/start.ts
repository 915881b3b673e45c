import type { ExternalAccess } from '../../tasks/external/access.ts';
import type { TaskSource } from '../../tasks/index.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import type { StepPaces, TrainConfig } from '../config/config.ts';
import type { RemoteEngine } from './remote.ts';

/** What a run takes. */
export interface RunEstimate extends StepPaces {
  /** For all remaining steps. */
  readonly seconds: number;
  /** Peak of the trainer process. */
  readonly memoryBytes: number;
  /** Peak of a GPU's own memory beside it; 0 or absent: none is used. */
  readonly gpuBytes?: number;
}

/** The goal of a run's stage. */
export interface RunGoal {
  readonly atLeast: number;
  /** The newest held-out score before the run starts or resumes; null: none yet. */
  readonly heldOut: number | null;
  /** Whether the run ends before its first step where the score meets the goal already. */
  readonly endIfMet?: boolean;
}

/** Everything a trainer process needs to start or resume: settings, checked records and resolved paths. */
export interface TrainerStart {
  readonly kind: 'start';
  readonly config: TrainConfig;
  /** The task of the configuration: a folder's with the text that the run keeps. */
  readonly task: TaskSource;
  /** The model folder for `config.model`. */
  readonly modelFolder: string;
  readonly records: readonly TaskRecord[];
  readonly evalRecords: readonly TaskRecord[];
  /** Folder for checkpoints. */
  readonly outputDir: string;
  /** A checkpoint of this run to resume from. */
  readonly resumeFrom: string | null;
  /** What the pre-flight check of this run estimated; null: there was none. */
  readonly estimate: RunEstimate | null;
  /** null or absent: its stage has none. */
  readonly goal?: RunGoal | null;
  /** Where it is computed, for `config.engine`; null or absent: here. */
  readonly engine?: RemoteEngine | null;
  /** The compiled kernels of the wasm backend. */
  readonly kernelsFile: string;
  /** The entry of the thread that computes the reward of a folder's task. */
  readonly rewardWorker: string;
  /** What the reward's components outside the sandbox need; null or absent: it has none. */
  readonly rewardAccess?: ExternalAccess | null;
}
