import type { TaskRecord } from '../tasks/task.ts';
import type { TrainConfig } from './config.ts';

/** All that a trainer process needs to begin or to go on: settings, checked records and resolved paths. */
export interface TrainerStart {
  readonly kind: 'start';
  readonly config: TrainConfig;
  /** The model folder that `config.model` names. */
  readonly modelFolder: string;
  readonly records: readonly TaskRecord[];
  readonly evalRecords: readonly TaskRecord[];
  /** Checkpoints go here. */
  readonly outputDir: string;
  /** A checkpoint of this very run to go on from. */
  readonly resumeFrom: string | null;
  /** The compiled kernels of the wasm backend. */
  readonly kernelsFile: string;
}
