/** The two-phase split: statistics before and after, the quartiles as a figure, and the checks. */
import { Button, Table } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { SplitRecord, SplitStatistics } from '../../main/api/contract/index.ts';
import { client } from '../api/client.ts';
import { BoundedNumber } from '../components/BoundedNumber.tsx';
import { Failed } from '../components/Feedback.tsx';
import { number } from '../components/format.ts';
import { Panel } from '../components/Screen.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
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
      title="Two-phase split"
      actions={
        <SubmitForm className={classes.seed} onSubmit={() => work.mutate()}>
          Phase 1 share
          <BoundedNumber
            aria-label="Phase 1 share"
            w={74}
            min={0.01}
            max={0.99}
            step={0.05}
            value={ratio}
            onChange={setRatio}
          />
          <Button type="submit" variant={split === null ? 'filled' : 'default'} loading={work.isPending}>
            {split === null ? 'Split' : 'Split again'}
          </Button>
        </SubmitForm>
      }
    >
      {work.error !== null && <Failed what="The records were not split" error={work.error} />}
      {split === null ? (
        <p className="soft">
          Not split yet. Phase 1 is for supervised fine-tuning (SFT), phase 2 for GRPO. They share no posts, and each
          gets its part of every engagement quartile.
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
  ['Records', (row) => String(row.records)],
  ['Posts', (row) => String(row.posts)],
  ['Mean engagement', (row) => number(row.mean_engagement)],
  ['Median', (row) => number(row.median_engagement)],
  ['Max', (row) => number(row.highest_engagement)],
  ['Words per reply', (row) => row.mean_reply_words.toFixed(1)],
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
            Ratio <span className="num">{ratio}</span>, seed <span className="num">{seed}</span>
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
