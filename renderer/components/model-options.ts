/** Models as grouped select options. Pure. */
import type { ModelEntry } from '../../main/api/contract/index.ts';
import { shortName } from './short-name.ts';

export interface ModelOption {
  readonly value: string;
  readonly label: string;
  readonly disabled: boolean;
}

export interface ModelOptionGroup {
  readonly group: string;
  readonly items: ModelOption[];
}

/** What each model stands under: its run's name, with its number where two runs have one name. */
export function modelHeadings(models: readonly Pick<ModelEntry, 'run'>[]): (entry: Pick<ModelEntry, 'run'>) => string {
  const runs = new Map(models.flatMap(({ run }) => (run === null ? [] : [[run.id, run.name] as const])));
  const sharing = Map.groupBy(runs.values(), (name) => name);
  return ({ run }) => {
    if (run === null) return 'Models';
    return (sharing.get(run.name)?.length ?? 0) > 1 ? `${run.name} (run ${run.id})` : run.name;
  };
}

/** Whole models, then the checkpoints of each run. Deleted checkpoints are omitted, unreadable models disabled. */
export function modelOptions(models: readonly ModelEntry[]): ModelOptionGroup[] {
  const headingOf = modelHeadings(models);
  const groups = new Map<string, ModelOption[]>();
  for (const entry of models) {
    const { ref, kind, name, run, checkpointKind, deleted, abandoned, problem } = entry;
    if (deleted) continue;
    const group = headingOf(entry);
    const last = `${checkpointKind === 'final' ? ', final' : ''}${abandoned ? ', abandoned' : ''}`;
    const label = run === null ? `${name}${kind === 'imported' ? ' (imported)' : ''}` : `${shortName(name)}${last}`;
    const items = groups.get(group) ?? [];
    items.push({ value: ref, label: problem === null ? label : `${label}: unreadable`, disabled: problem !== null });
    groups.set(group, items);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}
