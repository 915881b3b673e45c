/** Comparisons, tasks and models as entries of the palette. Pure. */
import type {
  ComparisonSummary,
  DatasetSummary,
  ModelEntry,
  RunSummary,
  TaskSummary,
} from '../../main/api/contract/index.ts';
import { counted, score } from '../components/format.ts';

export interface PalettePlace {
  readonly path: string;
  readonly label: string;
  readonly description: string;
  readonly keywords?: string[];
}

export function comparisonPlaces(comparisons: readonly ComparisonSummary[]): PalettePlace[] {
  return comparisons.map(({ id, models: [baseline, ...others], prompts }) => ({
    path: `/compare/${id}`,
    label: `${others.map(({ name }) => name).join(', ')} against ${baseline?.name ?? 'nothing'}`,
    description: `comparison, ${counted(prompts.n, 'prompt')} of ${prompts.datasets.join(', ')}`,
    keywords: [`comparison ${id}`],
  }));
}

export function runPlaces(
  runs: readonly Pick<RunSummary, 'id' | 'name' | 'state' | 'latest' | 'tags'>[],
): PalettePlace[] {
  return runs.map(({ id, name, state, latest, tags }) => ({
    path: `/runs/${id}`,
    label: name,
    description: `${state}, reward ${score(latest.reward?.value)}`,
    keywords: [`run ${id}`, ...tags],
  }));
}

export function datasetPlaces(datasets: readonly Pick<DatasetSummary, 'id' | 'name' | 'trainN'>[]): PalettePlace[] {
  return datasets.map(({ id, name, trainN }) => ({
    path: `/texts/dataset/${id}`,
    label: name,
    description: `dataset, ${counted(trainN, 'training pair')}`,
  }));
}

export function taskPlaces(tasks: readonly TaskSummary[]): PalettePlace[] {
  return tasks.map(({ name, title, origin }) => ({
    path: `/tasks/${name}`,
    label: name,
    description: [origin === 'bundled' ? 'bundled task' : 'task', ...(title === null ? [] : [title])].join(', '),
  }));
}

/** Those that exist. */
export function modelPlaces(models: readonly ModelEntry[]): PalettePlace[] {
  return models
    .filter(({ deleted }) => !deleted)
    .map(({ ref, kind, name, heldOut }) => ({
      path: `/models?${new URLSearchParams({ model: ref })}`,
      label: name,
      description:
        kind === 'checkpoint'
          ? `checkpoint${heldOut === null ? '' : `, held-out ${score(heldOut)}`}`
          : `${kind === 'workspace' ? 'exported or downloaded' : kind} model`,
    }));
}
