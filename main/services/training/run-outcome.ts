/** How a run ended, as its starter hears it. */
import type { BraidError } from '../../errors.ts';
import type { RunState } from '../../store/runs.ts';

export interface RunOutcome {
  readonly runId: number;
  readonly state: RunState;
  /** Steps done. */
  readonly step: number;
  /** The last checkpoint, if one was written. */
  readonly checkpoint: string | null;
  /** Why it failed; null if it didn't. */
  readonly error: BraidError | null;
  /** False for a new run whose input was rejected before it started: it isn't in the history. */
  readonly kept: boolean;
}
