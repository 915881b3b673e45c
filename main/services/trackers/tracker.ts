/** A tracker: where others look at a run. It may be slow or away; whoever follows a run is patient with it. */
import { BraidError } from '../../errors.ts';
import type { TrackerName } from '../../trainer/config/config.ts';

export interface TrackedRun {
  /** The project, or the experiment, that the run appears in. */
  readonly project: string;
  readonly name: string;
  /** Every field of the configuration, by name. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** How a run ended. `killed`: its process is gone. */
export interface RunEnd {
  readonly how: 'finished' | 'failed' | 'killed';
  readonly at: number;
}

export interface TrackedStep {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

export interface TrackedTable {
  readonly step: number;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

export interface Tracker {
  readonly name: TrackerName;
  /** In words. */
  readonly title: string;
  /** Starts the run there, or continues the one of this id. Returns its id. */
  open(run: TrackedRun, id: string | null): Promise<string>;
  log(steps: readonly TrackedStep[]): Promise<void>;
  /** The completions of a step. */
  table(table: TrackedTable): Promise<void>;
  /** Ends the run there; null: it still trains, so only what was sent is completed. */
  close(end: RunEnd | null): Promise<void>;
  /** Ends every connection and process at once. */
  drop(): void;
}

/** A fault that remains however long one waits. */
export class TrackerRefusal extends BraidError {
  constructor(message: string, remedy: string) {
    super('TRACKER_REFUSED', message, { remedy });
  }
}

/** A number as JSON: what it doesn't have becomes a text, which Python and MLflow read. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
