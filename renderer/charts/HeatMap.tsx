/** Numbers as a map: a table whose cells are shaded by their value, so that it reads the same without colours. */
import { Tooltip } from '@mantine/core';
import type { CSSProperties } from 'react';
import classes from './HeatMap.module.css';

export interface HeatCell {
  readonly text: string;
  /** How strongly it is shaded, from 0 to 1. */
  readonly shade: number;
  /** The whole story, on hover. */
  readonly about: string;
  /** A second line that stands out, such as a loss. */
  readonly warning?: string | null;
}

export interface HeatRow {
  readonly key: string;
  readonly label: string;
  readonly about?: string;
  /** By column; null: no value. */
  readonly cells: readonly (HeatCell | null)[];
}

export interface HeatMapProps {
  /** For screen readers, and in small print. */
  readonly caption: string;
  /** The heading of the first column. */
  readonly corner: string;
  readonly columns: readonly string[];
  readonly rows: readonly HeatRow[];
  /** What the lightest and the darkest shade mean. */
  readonly ends: readonly [light: string, dark: string];
}

export function HeatMap({ caption, corner, columns, rows, ends }: HeatMapProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.scroll} tabIndex={0} aria-label={caption}>
      <table className={classes.map}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map((column) => (
              <th key={column} scope="col" className="num">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, label, about, cells }) => (
            <tr key={key}>
              <th scope="row" title={about}>
                {label}
              </th>
              {cells.map((cell, i) => (
                <Cell key={columns[i]} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className={classes.scale} aria-hidden="true">
        {ends[0]} <span /> {ends[1]}
      </p>
    </section>
  );
}

function Cell({ cell }: { readonly cell: HeatCell | null }) {
  if (cell === null)
    return (
      <td className={classes.none}>
        <span title="not measured">–</span>
      </td>
    );
  const ground = Math.round(100 * Math.max(0, Math.min(1, cell.shade)));
  return (
    <Tooltip label={cell.about}>
      <td className={classes.cell} style={{ '--ground': `${ground}%` } as CSSProperties}>
        <span className="num">{cell.text}</span>
        {cell.warning != null && <span className={classes.lost}>{cell.warning}</span>}
      </td>
    </Tooltip>
  );
}
