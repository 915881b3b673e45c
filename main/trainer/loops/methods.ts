/** The training loop of each method. */
import type { TrainConfig } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import type { Stage } from '../stage/stage.ts';
import { trainGrpo } from './grpo.ts';
import type { RunIo } from './run-io.ts';
import { trainPolychromicSft, trainSft } from './sft.ts';

export type TrainingLoop = (stage: Stage, engine: Engine, io: RunIo) => Promise<void>;

export function trainingLoop(method: TrainConfig['method']): TrainingLoop {
  switch (method) {
    case 'grpo':
    case 'polychromic-grpo':
      return trainGrpo;
    case 'sft':
      return trainSft;
    case 'polychromic-sft':
      return trainPolychromicSft;
  }
}
