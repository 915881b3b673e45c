import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

/** What there is to choose from for fields that name a file or a model. */
export function useSuggestions(): Readonly<Record<string, readonly string[]>> {
  const { data: models = [] } = useQuery(api.models.list.queryOptions());
  const { data: datasets = [] } = useQuery(api.datasets.list.queryOptions());
  const usable = models.filter(({ problem, deleted }) => problem === null && !deleted);
  return {
    model: usable.filter(({ kind }) => kind !== 'checkpoint').map(({ model }) => model),
    from_checkpoint: usable.filter(({ kind }) => kind === 'checkpoint').map(({ folder }) => folder),
    dataset: [...new Set(datasets.map(({ file }) => file))],
  };
}
