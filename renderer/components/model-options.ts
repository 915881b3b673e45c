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

/** Whole models, then the checkpoints of each run. Deleted checkpoints are omitted, unreadable models disabled. */
export function modelOptions(models: readonly ModelEntry[]): ModelOptionGroup[] {
  const groups = new Map<string, ModelOption[]>();
  for (const { ref, kind, name, run, checkpointKind, deleted, problem } of models) {
    if (deleted) continue;
    const group = run === null ? 'Models' : run.name;
    const last = checkpointKind === 'final' ? ', final' : '';
    const label = run === null ? `${name}${kind === 'imported' ? ' (imported)' : ''}` : `${shortName(name)}${last}`;
    const items = groups.get(group) ?? [];
    items.push({ value: ref, label: problem === null ? label : `${label}: unreadable`, disabled: problem !== null });
    groups.set(group, items);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}
