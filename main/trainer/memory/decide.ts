/** What a process decides about its memory before it loads a model: the weights' precision and the activation budget. */
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { readRegular } from '../../io/read-file.ts';
import type { ModelConfig } from '../../model/config.ts';
import { isQuantised } from '../../tensor/quantised.ts';
import type { WeightPrecision } from '../../tensor/weights.ts';
import { formatBytes } from '../../text/format.ts';
import type { TrainConfig } from '../config/config.ts';
import {
  activationBudget,
  type Budget,
  isOnGpu,
  keptAs,
  leastBytes,
  possible,
  precisionFor,
  type Residents,
  residentsOfRun,
} from './budget.ts';
import { currentBudget } from './device.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** Decided once: a resumed run keeps it, so that rounding doesn't depend on what is free on the day. */
export interface MemoryDecision {
  readonly precision: WeightPrecision;
  /** In MiB. */
  readonly activationMb: number;
}

/** The decision for a run. `known`: of its longest prompt and completion, and of the model's files. */
export function decideForRun(
  config: TrainConfig,
  model: ModelConfig,
  recorded: Partial<MemoryDecision>,
  budget: Budget,
  known: Pick<Residents, 'promptTokens' | 'completionTokens' | 'fileBytes'> = {},
): MemoryDecision {
  const residents = { ...residentsOfRun(config, model, budget, recorded.precision), ...known };
  return decide(model, residents, config.activation_memory_mb ?? recorded.activationMb, budget);
}

/** The decision for a model that is only used. */
export function decideForUse(
  model: ModelConfig,
  recorded: Partial<MemoryDecision>,
  budget: Budget = currentBudget(),
  fileBytes?: StoredBytes,
): MemoryDecision {
  const precision = possible(recorded.precision, budget) ?? precisionFor(model, 'none', budget);
  return decide(model, { precision, trained: 'none', ...(fileBytes !== undefined && { fileBytes }) }, null, budget);
}

function decide(
  model: ModelConfig,
  residents: Parameters<typeof activationBudget>[1],
  given: number | null | undefined,
  budget: Budget,
): MemoryDecision {
  const kept = { ...residents, precision: keptAs(residents.precision, budget.device) };
  const least = leastBytes(model, kept, budget.program);
  if (least > budget.bytes) throw noRoom(least, budget, residents);
  const activationMb = given ?? activationBudget(model, kept, budget) / 2 ** 20;
  return { precision: residents.precision, activationMb };
}

function noRoom(
  needed: number,
  { device, bytes }: Budget,
  { precision, trained }: Parameters<typeof activationBudget>[1],
): BraidError {
  const where = device === 'wasm' ? 'the wasm backend can use' : isOnGpu(device) ? 'are free on the GPU' : 'are free';
  const smaller = device.startsWith('webgpu') && trained !== 'all' && precision !== 'nf4';
  return new BraidError(
    'OUT_OF_MEMORY',
    `The model needs at least ${formatBytes(needed)}, and ${formatBytes(bytes)} ${where}. Nothing was started.`,
    {
      remedy:
        device === 'wasm'
          ? 'Use the native or webgpu backend, a smaller model, or LoRA instead of full fine-tuning.'
          : `End other programs or runs, ${smaller ? `set base_weights to ${precision === 'int8' ? 'nf4' : 'int8 or nf4'}, ` : ''}use a smaller model, or LoRA instead of full fine-tuning.`,
    },
  );
}

/** Everything that a run resumes from besides weights and moments; the file's name is older than what it holds. */
export const PROGRESS_FILE = 'rng.json';

/** The decision that a checkpoint was trained with, as far as it records it. */
export function recordedDecision(checkpoint: string | null): Partial<MemoryDecision> {
  if (checkpoint === null) return {};
  try {
    const state = JSON.parse(readRegular(join(checkpoint, PROGRESS_FILE)).toString('utf8')) as {
      readonly memory?: unknown;
    };
    const { precision, activationMb } = (state.memory ?? {}) as Partial<MemoryDecision>;
    return {
      ...(isPrecision(precision) && { precision }),
      ...(typeof activationMb === 'number' && activationMb > 0 && { activationMb }),
    };
  } catch {
    // A folder of another program, or of an earlier version: it is decided again. A resume reports a damaged file.
    return {};
  }
}

function isPrecision(value: unknown): value is WeightPrecision {
  return value === 'float32' || value === 'bfloat16' || value === 'stored' || isQuantised(String(value));
}
