/** The comparison as tables: means with the winner of each row, and paired differences between models. */
import { Select, Table } from '@mantine/core';
import { useState } from 'react';
import type { ReportView } from '../../main/api/contract/index.ts';
import { signed } from '../components/format.ts';
import { MetricTable } from './MetricTable.tsx';
import classes from './Replies.module.css';
import { type Difference, differences, mean, modelLabel } from './report-rows.ts';

export interface ReportTableProps {
  readonly report: ReportView;
}

export function ReportTable({ report: { numbers } }: ReportTableProps) {
  return (
    <MetricTable
      label="Comparison of the methods"
      models={numbers.models.map(({ name }) => name)}
      rows={numbers.rows}
      cells={({ means, winner }) =>
        means.map(({ model, mean: value, low, high }) => (
          <Table.Td key={model} className="num" data-winner={model === winner || undefined}>
            {mean(value)} <span className="faint">{`[${mean(low)}, ${mean(high)}]`}</span>
          </Table.Td>
        ))
      }
      winner={({ winner }) => winner}
    />
  );
}

/** Paired differences of every other model from one, on the same prompts. */
export function Differences({ report: { numbers } }: ReportTableProps) {
  const names = numbers.models.map(({ name }) => name);
  const [chosen, setChosen] = useState<string | null>(null);
  const against = chosen !== null && names.includes(chosen) ? chosen : (names[0] ?? '');
  const others = names.filter((name) => name !== against);
  return (
    <div className={classes.differences}>
      <div className={classes.seed}>
        <h3>Differences from</h3>
        <Select
          aria-label="Differences from"
          w={190}
          allowDeselect={false}
          data={names.map((name) => ({ value: name, label: modelLabel(name) }))}
          value={against}
          onChange={setChosen}
        />
        <span className="soft">
          paired by prompt, with 95% intervals; bold where significant after Holm correction over the whole table (p
          &lt; 0.05)
        </span>
      </div>
      <MetricTable
        label="Differences as a table"
        models={others}
        rows={numbers.rows}
        cells={({ pairs }) =>
          differences(pairs, against, others).map((pair, at) => (
            <Table.Td key={others[at]} className="num">
              <DifferenceCell pair={pair} />
            </Table.Td>
          ))
        }
      />
      <p className="faint">Last three numbers: posts on which it is higher, equal or lower</p>
    </div>
  );
}

function DifferenceCell({ pair }: { readonly pair: Difference | null }) {
  if (pair === null) return '–';
  return (
    <span title={`p ${pair.p.toPrecision(2)} after correction`}>
      <span data-significant={pair.significant || undefined}>{signed(pair.mean, mean)}</span>{' '}
      <span className="faint">
        {`[${signed(pair.low, mean)}, ${signed(pair.high, mean)}]`}
        <span className={classes.counts}>{`${pair.wins}:${pair.ties}:${pair.losses}`}</span>
      </span>
    </span>
  );
}
