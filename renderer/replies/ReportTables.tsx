/** The comparison as tables: means with the winner of each row, and paired differences between models. */
import { Select, Table } from '@mantine/core';
import { useState } from 'react';
import type { ReportView } from '../../main/api/contract/index.ts';
import { signed } from '../components/format.ts';
import classes from './Replies.module.css';
import { differences, mean, modelLabel } from './report-rows.ts';

export interface ReportTableProps {
  readonly report: ReportView;
}

export function ReportTable({ report: { numbers } }: ReportTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.scroll} tabIndex={0} aria-label="Comparison of the methods">
      <Table className={classes.numbers}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Metric</Table.Th>
            {numbers.models.map(({ name }) => (
              <Table.Th key={name} scope="col">
                {modelLabel(name)}
              </Table.Th>
            ))}
            <Table.Th scope="col">Winner</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {numbers.rows.map(({ name, label, better, means, winner }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">
                {label} <BetterArrow better={better} />
              </Table.Th>
              {means.map(({ model, mean: value, low, high }) => (
                <Table.Td key={model} className="num" data-winner={model === winner || undefined}>
                  {mean(value)} <span className="faint">{`[${mean(low)}, ${mean(high)}]`}</span>
                </Table.Td>
              ))}
              <Table.Td>{winner === null ? '–' : modelLabel(winner)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** Which direction is better. */
export function BetterArrow({ better }: { readonly better: 'higher' | 'lower' | null }) {
  if (better === null) return null;
  return (
    <span className="faint" title={`${better} is better`}>
      {better === 'higher' ? '↑' : '↓'}
    </span>
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
          paired by prompt, with 95 % intervals; bold where significant after Holm correction over the whole table (p
          &lt; 0.05)
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className={classes.scroll} tabIndex={0} aria-label="Differences as a table">
        <Table className={classes.numbers}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Metric</Table.Th>
              {others.map((name) => (
                <Table.Th key={name} scope="col">
                  {modelLabel(name)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {numbers.rows.map(({ name, label, better, pairs }) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">
                  {label} <BetterArrow better={better} />
                </Table.Th>
                {differences(pairs, against, others).map((pair, at) => (
                  <Table.Td key={others[at]} className="num">
                    {pair === null ? (
                      '–'
                    ) : (
                      <span title={`p ${pair.p.toPrecision(2)} after correction`}>
                        <span data-significant={pair.significant || undefined}>{signed(pair.mean, mean)}</span>{' '}
                        <span className="faint">
                          {`[${signed(pair.low, mean)}, ${signed(pair.high, mean)}]`}
                          <span className={classes.counts}>{`${pair.wins}:${pair.ties}:${pair.losses}`}</span>
                        </span>
                      </span>
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      <p className="faint">Last three numbers: posts on which it is higher, equal or lower</p>
    </div>
  );
}
