/** A heat map: a grid of coloured values, each with its number. */

import { largest } from '../../lists.ts';
import { colourOf, fixed, PLOT, SHEET, sheet, textAt } from './svg.ts';

export interface HeatMap {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** [row][column]; NaN: empty. */
  readonly values: readonly (readonly number[])[];
}

const ROW = 26;

/** The map as SVG: white is 0, full colour the largest value. */
export function heatMap({ title, columns, rows, values }: HeatMap): string {
  const most = largest(values.flat().filter(Number.isFinite), 1e-12);
  const left = 170;
  const width = (PLOT.right - left) / Math.max(columns.length, 1);
  const heads = columns.map((name, c) =>
    textAt(left + (c + 0.5) * width, PLOT.top + 12, name, { size: 11, anchor: 'middle' }),
  );
  const cells = rows.flatMap((name, r) => {
    const y = PLOT.top + 22 + r * ROW;
    const label = textAt(left - 8, y + 17, name, { size: 11, anchor: 'end' });
    const own = (values[r] ?? []).flatMap((value, c) => {
      if (!Number.isFinite(value)) return [];
      const x = left + c * width;
      return [
        `<rect x="${fixed(x)}" y="${y}" width="${fixed(width - 2)}" height="${ROW - 2}" fill="${colourOf(0)}" fill-opacity="${fixed(value / most)}"/>`,
        textAt(x + width / 2, y + 17, value.toPrecision(3), { size: 10, anchor: 'middle' }),
      ];
    });
    return [label, ...own];
  });
  return sheet(title, [...heads, ...cells], Math.max(SHEET.height / 2, PLOT.top + 50 + rows.length * ROW));
}
