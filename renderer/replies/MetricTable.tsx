/** Metrics by rows, models by columns: the frame of every table of a comparison. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './Replies.module.css';
import { modelLabel } from './report-rows.ts';

interface MetricRow {
  readonly name: string;
  readonly label: string;
  readonly better: 'higher' | 'lower' | null;
}

interface MetricTableProps<R extends MetricRow> {
  readonly label: string;
  readonly models: readonly string[];
  readonly rows: readonly R[];
  /** The cells of one row, in the order of `models`. */
  readonly cells: (row: R) => ReactNode;
  /** The winner of a row; without it the table has no such column. */
  readonly winner?: (row: R) => string | null;
}

export function MetricTable<R extends MetricRow>({ label, models, rows, cells, winner }: MetricTableProps<R>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      <Table className={classes.numbers}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Metric</Table.Th>
            {models.map((name) => (
              <Table.Th key={name} scope="col">
                {modelLabel(name)}
              </Table.Th>
            ))}
            {winner !== undefined && <Table.Th scope="col">Winner</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.name}>
              <Table.Th scope="row">
                {row.label} <BetterArrow better={row.better} />
              </Table.Th>
              {cells(row)}
              {winner !== undefined && <Table.Td>{winnerLabel(winner(row))}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function winnerLabel(name: string | null): string {
  return name === null ? '–' : modelLabel(name);
}

/** Which direction is better. */
function BetterArrow({ better }: Pick<MetricRow, 'better'>) {
  if (better === null) return null;
  return (
    <span className="faint" title={`${better} is better`}>
      {better === 'higher' ? '↑' : '↓'}
    </span>
  );
}
