/** The split for two phases: its numbers before and after, the quartiles as a figure, the checks. */
import { Button, NumberInput, Table } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SplitRecord } from '../../main/services/replies/memory.ts';
import type { SplitStatistics } from '../../main/services/replies/split.ts';
import { client } from '../api/client.ts';
import { Failed } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { Checks } from './Checks.tsx';
import { QuartileFigure } from './QuartileFigure.tsx';
import classes from './Replies.module.css';
import { splitVerdicts } from './words.ts';

export interface SplitPanelProps {
  readonly split: SplitRecord | null;
  readonly seed: number;
}

export function SplitPanel({ split, seed }: SplitPanelProps) {
  const [ratio, setRatio] = useState(split?.ratio ?? 0.5);
  const work = useMutation({ mutationFn: () => client.replies.split({ ratio, seed }) });
  return (
    <Panel
      title="Split for two phases"
      actions={
        <form
          className={classes.seed}
          onSubmit={(event) => {
            event.preventDefault();
            work.mutate();
          }}
        >
          Share of phase 1
          <NumberInput
            aria-label="Share of phase 1"
            w={74}
            min={0.01}
            max={0.99}
            step={0.05}
            decimalScale={2}
            value={ratio}
            onChange={(value) => typeof value === 'number' && setRatio(value)}
          />
          <Button type="submit" variant={split === null ? 'filled' : 'default'} loading={work.isPending}>
            {split === null ? 'Split' : 'Split anew'}
          </Button>
        </form>
      }
    >
      {work.error !== null && <Failed what="The records were not split" error={work.error} />}
      {split === null ? (
        <p className="soft">
          Not split yet. Phase 1 is for supervised fitting, phase 2 for reinforcement; they share no post, and each gets
          its part of every quartile of engagement.
        </p>
      ) : (
        <div className={classes.split}>
          <div>
            <Numbers split={split} />
            <Checks checks={splitVerdicts(split.checks)} />
          </div>
          <QuartileFigure split={split} />
        </div>
      )}
    </Panel>
  );
}

const columns: readonly (readonly [string, (row: SplitStatistics) => string])[] = [
  ['records', (row) => String(row.records)],
  ['posts', (row) => String(row.posts)],
  ['engagement, mean', (row) => number(row.mean_engagement)],
  ['median', (row) => number(row.median_engagement)],
  ['highest', (row) => number(row.highest_engagement)],
  ['words a reply', (row) => row.mean_reply_words.toFixed(1)],
];

function Numbers({ split: { before, after, ratio, seed } }: { readonly split: SplitRecord }) {
  const rows = [
    ['Before', before],
    ['Phase 1, SFT', after.sft],
    ['Phase 2, GRPO', after.grpo],
  ] as const;
  return (
    <Table aria-label={`Before and after the split at ${ratio} with seed ${seed}`} className={classes.numbers}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">
            ratio <span className="num">{ratio}</span>, seed <span className="num">{seed}</span>
          </Table.Th>
          {columns.map(([name]) => (
            <Table.Th key={name} scope="col">
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(([name, row]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name}</Table.Th>
            {columns.map(([column, text]) => (
              <Table.Td key={column} className="num">
                {text(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
