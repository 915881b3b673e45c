/** Small tables for the terminal: columns as wide as their widest cell, numbers right-aligned. */
import { largest } from '../lists.ts';
import { columnsOf, padded } from './terminal-text.ts';

/** Lines of a table; a cell that is a number is right-aligned, and so is its column's heading. */
export function tableLines(headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const numeric = headings.map((_, i) => typeof rows[0]?.[i] === 'number');
  const texts = [headings, ...rows.map((row) => row.map(String))];
  const widths = headings.map((_, i) => largest(texts.map((row) => columnsOf(row[i] ?? ''))));
  return texts.map((row) =>
    row
      .map((cell, i) => padded(cell, widths[i] ?? 0, numeric[i] ? 'start' : 'end'))
      .join('  ')
      .trimEnd(),
  );
}
