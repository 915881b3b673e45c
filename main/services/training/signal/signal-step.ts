/** What the signal budget reads of a run's history. */
import type { GroupOutcome } from '../../../trainer/protocol/trainer-events.ts';

/** One step that sampled groups, with what it and the steps that reuse its groups took, in seconds. */
export interface SignalStep {
  readonly step: number;
  readonly groups: readonly GroupOutcome[];
  /** Sampling and scoring completions. */
  readonly sampling: number;
  /** Forward and backward passes. */
  readonly training: number;
  readonly total: number;
}

/** Words of the reference completion of each record of the run's dataset; null: it can't be read. */
export type RecordWords = ReadonlyMap<string, number> | null;
