/** Models as the choices of a field, in groups. Pure. */
import type { ModelEntry } from '../../main/services/model-list.ts';
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

/** Whole models, then the checkpoints of each run; deleted checkpoints are left out, unreadable models can't be chosen. */
export function modelOptions(models: readonly ModelEntry[]): ModelOptionGroup[] {
  const groups = new Map<string, ModelOption[]>();
  for (const { ref, kind, name, run, checkpointKind, deleted, problem } of models) {
    if (deleted) continue;
    const group = run === null ? 'Models' : run.name;
    const last = checkpointKind === 'final' ? ', the last' : '';
    const label = run === null ? `${name}${kind === 'imported' ? ' (imported)' : ''}` : `${shortName(name)}${last}`;
    const items = groups.get(group) ?? [];
    items.push({ value: ref, label: problem === null ? label : `${label}: can't be read`, disabled: problem !== null });
    groups.set(group, items);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}
