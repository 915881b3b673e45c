/** How many rows are selected, also those that a search or filter hides. Pure. */
import { number } from './format.ts';

interface Row {
  readonly id: number;
}

/** "3 selected, 1 not shown" */
export function selectedText(selected: readonly Row[], shown: readonly Row[]): string {
  const ids = new Set(shown.map(({ id }) => id));
  const hidden = selected.filter(({ id }) => !ids.has(id)).length;
  return `${number(selected.length)} selected${hidden === 0 ? '' : `, ${number(hidden)} not shown`}`;
}
