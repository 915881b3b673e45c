/** The comparison that a finished run asks for. Pure. */
import type { ModelEntry, RunDetail } from '../../main/api/contract/index.ts';

type Compared = Pick<RunDetail, 'checkpoints' | 'model' | 'dataset' | 'parentCheckpointId'>;

/** The link to Compare; null without a checkpoint, or where the model it started from is gone. */
export function comparisonOf(
  { checkpoints, model, dataset, parentCheckpointId }: Compared,
  models: readonly Pick<ModelEntry, 'ref' | 'model' | 'checkpointId' | 'problem'>[],
  datasets: readonly { readonly id: number; readonly file: string }[],
): string | null {
  const newest = checkpoints.findLast(({ deletedAt }) => deletedAt === null);
  const usable = models.filter(({ problem }) => problem === null);
  const base =
    parentCheckpointId === null
      ? usable.find((entry) => entry.checkpointId === null && entry.model === model)
      : usable.find((entry) => entry.checkpointId === parentCheckpointId);
  const trained = usable.find(({ checkpointId }) => checkpointId !== null && checkpointId === newest?.id);
  if (base === undefined || trained === undefined) return null;
  const asked = new URLSearchParams({ baseline: base.ref, model: trained.ref });
  const own = datasets.find(({ file }) => file === dataset);
  if (own !== undefined) asked.set('dataset', String(own.id));
  return `/compare?${asked}`;
}
