/** The model list as lines: headings, models, the checkpoints of each run. Pure. */
import type { ModelEntry } from '../../main/api/contract/index.ts';
import { folded } from '../components/folded.ts';
import { modelHeadings } from '../components/model-options.ts';

export type ModelLine =
  | { readonly kind: 'heading'; readonly key: string; readonly title: string; readonly count: number }
  | { readonly kind: 'model'; readonly key: string; readonly entry: ModelEntry };

export interface LineChoice {
  readonly search: string;
  /** Whether deleted checkpoints are listed. */
  readonly deleted: boolean;
}

/** Whole models under one heading, then each run's checkpoints under its name. */
export function modelLines(models: readonly ModelEntry[], { search, deleted }: LineChoice): readonly ModelLine[] {
  const wanted = folded(search.trim());
  const headingOf = modelHeadings(models);
  const groups = new Map<string, ModelEntry[]>();
  for (const entry of models) {
    if (entry.deleted && !deleted) continue;
    if (wanted !== '' && !folded(`${entry.name} ${entry.folder}`).includes(wanted)) continue;
    const group = headingOf(entry);
    groups.set(group, [...(groups.get(group) ?? []), entry]);
  }
  return [...groups].flatMap(([title, entries]) => [
    { kind: 'heading', key: title, title, count: entries.length } as const,
    ...entries.map((entry) => ({ kind: 'model', key: entry.ref, entry }) as const),
  ]);
}

/** A folder name for the export of a model: `grpo/seed_42` at step 90 becomes `grpo-seed_42-step-90`. */
export function exportName({ kind, name, run, step }: ModelEntry): string {
  const full = kind === 'checkpoint' ? `${run?.name ?? 'checkpoint'}-step-${step}` : `${name}-export`;
  return full.replace(/[^\w.-]+/g, '-').replace(/^[^\w]+/, '');
}

/** The reference `by` models further down; the first if none is selected. */
export function neighbour(lines: readonly ModelLine[], ref: string | null, by: number): string | null {
  const refs = lines.flatMap((line) => (line.kind === 'model' ? [line.entry.ref] : []));
  const at = ref === null ? -1 : refs.indexOf(ref);
  return refs[at < 0 ? 0 : Math.max(0, Math.min(refs.length - 1, at + by))] ?? null;
}

/** Whether a size fits: easily, only with other programs closed, or not at all. */
export function memoryFit(bytes: number, freeBytes: number, totalBytes: number): 'fits' | 'tight' | 'too large' {
  if (bytes <= freeBytes * 0.9) return 'fits';
  return bytes <= totalBytes * 0.9 ? 'tight' : 'too large';
}
