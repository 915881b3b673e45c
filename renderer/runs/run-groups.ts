/** The run list in groups: of one experiment, stage, dataset, model or tag. Pure. */
import type { RunRowView } from './run-rows.ts';

export const groupings = ['none', 'experiment', 'stage', 'dataset', 'model', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

export interface RunGroup {
  readonly title: string;
  readonly rows: readonly RunRowView[];
  /** Held-out scores of those that have one: mean, and standard deviation over n − 1 of two or more. */
  readonly heldOut: { readonly n: number; readonly mean: number; readonly std: number | null } | null;
}

/** Groups in the order of their first row; a run with two tags is in two groups. */
export function groupRows(rows: readonly RunRowView[], by: Exclude<Grouping, 'none'>): readonly RunGroup[] {
  const groups = new Map<string, RunRowView[]>();
  for (const row of rows) for (const title of titlesOf(row, by)) groups.set(title, [...(groups.get(title) ?? []), row]);
  return [...groups].map(([title, members]) => ({ title, rows: members, heldOut: spreadOf(members) }));
}

/** Each run once, though it is in the group of each of its tags. */
export function runIds(rows: readonly Pick<RunRowView, 'id'>[]): readonly number[] {
  return [...new Set(rows.map(({ id }) => id))];
}

function titlesOf(row: RunRowView, by: Exclude<Grouping, 'none'>): readonly string[] {
  switch (by) {
    case 'experiment':
      return [/^(.+)\/seed_\d+$/.exec(row.role)?.[1] ?? 'no experiment'];
    case 'stage':
      return [row.stage ?? 'free runs'];
    case 'dataset':
      return [row.dataset];
    case 'model':
      return [row.model];
    case 'tag':
      return row.tags.length === 0 ? ['no tag'] : row.tags;
  }
}

function spreadOf(rows: readonly RunRowView[]): RunGroup['heldOut'] {
  const scores = rows.flatMap(({ heldOut }) => heldOut ?? []);
  const n = scores.length;
  if (n === 0) return null;
  const mean = scores.reduce((a, b) => a + b, 0) / n;
  const squares = scores.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { n, mean, std: n < 2 ? null : Math.sqrt(squares / (n - 1)) };
}
