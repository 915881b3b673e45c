/** What a new run starts from and trains on unless the user chooses, and what keeps it from starting. Pure. */
import type { ConfigFault, DatasetSummary } from '../../../main/api/contract/index.ts';
import type { Values } from './sections.ts';

/** Datasets made within this time of each other were made together, as those of a curriculum are. */
const TOGETHER_MS = 10 * 60_000;

/** The newest dataset of a task that still exists; of several made together the one with the shortest texts. */
export function newestDataset(datasets: readonly DatasetSummary[], task: unknown): string | null {
  const there = datasets.filter((dataset) => dataset.task === task && dataset.bytes !== null);
  const newest = Math.max(...there.map(({ madeAt }) => madeAt));
  const length = ({ words }: DatasetSummary): number => words ?? Number.POSITIVE_INFINITY;
  const together = there.filter(({ madeAt }) => newest - madeAt < TOGETHER_MS);
  return together.toSorted((a, b) => length(a) - length(b) || b.madeAt - a.madeAt)[0]?.file ?? null;
}

/** Why the run can't start yet; null: it can. */
export function blockedBy({ dataset }: Values, faults: readonly ConfigFault[]): string | null {
  if (faults.length > 0) {
    const names = [...new Set(faults.map(({ field }) => field))].join(', ');
    return `To start, fix ${names}.`;
  }
  return dataset === '' || dataset === undefined ? 'To start, choose a dataset.' : null;
}

/** A run whose settings the new one copies, apart from the changes. */
export interface Followed {
  readonly runId: number;
  readonly base: Values;
  readonly change: Values;
  readonly name: string;
}

/** Whether a new stage is offered for a run's checkpoints; of other tasks a run with the same settings is nearer. */
export function continuesInCurriculum({ task = 'interleave' }: Values): boolean {
  return task === 'interleave';
}

/** A new run with a run's settings that starts from one of its checkpoints. */
export function runFrom(runId: number, config: Values, folder: string): Followed {
  return { runId, base: config, change: { from_checkpoint: folder }, name: '' };
}
