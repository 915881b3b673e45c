/** What a new run trains on unless the user chooses, and what keeps it from starting. Pure. */
import type { ConfigFault, DatasetSummary } from '../../../main/api/contract/index.ts';
import type { Values } from './sections.ts';

/** The file of the newest dataset of a task that still exists; null: there is none. */
export function newestDataset(datasets: readonly DatasetSummary[], task: unknown): string | null {
  const there = datasets.filter((dataset) => dataset.task === task && dataset.bytes !== null);
  return there.toSorted((a, b) => b.madeAt - a.madeAt)[0]?.file ?? null;
}

/** Why the run can't start yet; null: it can. */
export function blockedBy({ dataset }: Values, faults: readonly ConfigFault[]): string | null {
  if (faults.length > 0) {
    const names = [...new Set(faults.map(({ field }) => field))].join(', ');
    return `To start, fix ${names}.`;
  }
  return dataset === '' || dataset === undefined ? 'To start, choose a dataset.' : null;
}
