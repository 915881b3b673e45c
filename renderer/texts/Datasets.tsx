/** The datasets of the workspace. */
import { Button, Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { DatasetSummary } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { folded } from '../components/folded.ts';
import { bytes, counted, number } from '../components/format.ts';
import { Link } from '../components/Link.tsx';
import { heldOutInWords, leakageInWords } from '../components/leakage.ts';
import { Panel } from '../components/Screen.tsx';
import rows from '../components/TableRows.module.css';
import { useTableRows } from '../components/use-table-rows.ts';
import { When } from '../components/When.tsx';
import { FoundFiles } from './FoundFiles.tsx';
import { RemoveDataset } from './RemoveDataset.tsx';
import classes from './Texts.module.css';
import { TextsScreen } from './TextsScreen.tsx';

const heads = [
  ['Name', 'left'],
  ['Words', 'right'],
  ['Train', 'right'],
  ['Test', 'right'],
  ['Held out', 'left'],
  ['Seed', 'right'],
  ['Template', 'left'],
  ['Used by', 'left'],
  ['Size', 'right'],
  ['Created', 'left'],
] as const;

export function Datasets() {
  const { data, error, refetch } = useQuery(api.datasets.list.queryOptions());
  const [deleting, setDeleting] = useState<number | null>(null);
  const [, navigate] = useLocation();
  const actions = <Button onClick={() => navigate('/texts/make')}>Make datasets …</Button>;
  return (
    <TextsScreen actions={actions}>
      {error !== null && <Failed what="The datasets can't be listed" error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the datasets" />}
      {data?.length === 0 && (
        <Empty title="No datasets yet">
          <p>
            <Link href="/texts/make">Make one</Link> from your texts: pairs of fragments, and the target that
            interleaves them.
          </p>
        </Empty>
      )}
      {data !== undefined && data.length > 0 && <Listed datasets={data} onRemove={setDeleting} />}
      <FoundFiles />
      {deleting !== null && <RemoveDataset id={deleting} onClose={() => setDeleting(null)} />}
    </TextsScreen>
  );
}

interface ListedProps {
  readonly datasets: readonly DatasetSummary[];
  readonly onRemove: (id: number) => void;
}

/** Fewer are seen at a glance. */
const SEARCHED_FROM = 12;
const ROW = 41;

function Listed({ datasets, onRemove }: ListedProps) {
  const scroller = useRef<HTMLElement>(null);
  const [search, setSearch] = useState('');
  const wanted = folded(search.trim());
  const found = datasets.filter(({ name, task }) => folded(`${name} ${task}`).includes(wanted));
  const { shown, before, after, measure } = useTableRows({ count: found.length, scroller, height: ROW });
  return (
    <>
      {datasets.length >= SEARCHED_FROM && (
        <TextInput
          className={classes.find ?? ''}
          aria-label="Search datasets"
          placeholder={`Search ${counted(datasets.length, 'dataset')}`}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      <Panel ref={scroller} className={classes.datasets ?? ''}>
        {found.length === 0 && <p className="soft">No dataset has “{search}” in its name.</p>}
        <Table stickyHeader highlightOnHover aria-rowcount={found.length + 1}>
          <Table.Thead>
            <Table.Tr>
              {heads.map(([name, align]) => (
                <Table.Th key={name} ta={align}>
                  {name}
                </Table.Th>
              ))}
              <Table.Th>
                <span className="visually-hidden">Actions</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className={rows.body ?? ''}>
            {before > 0 && <tr style={{ height: before }} />}
            {shown.map((index) => {
              const dataset = found[index];
              return dataset !== undefined && <Row key={dataset.id} {...{ dataset, index, measure, onRemove }} />;
            })}
            {after > 0 && <tr style={{ height: after }} />}
          </Table.Tbody>
        </Table>
      </Panel>
    </>
  );
}

interface RowProps extends Pick<ListedProps, 'onRemove'> {
  readonly dataset: DatasetSummary;
  readonly index: number;
  readonly measure: (row: HTMLElement | null) => void;
}

const Row = memo(function Row({ dataset, index, measure, onRemove }: RowProps) {
  const { id, name, words, trainN, testN, seed, template, runs, stages, madeAt } = dataset;
  const leaks = leakageInWords(dataset.leakage, testN, dataset.task);
  return (
    <tr ref={measure} data-index={index} aria-rowindex={index + 2}>
      <td>
        <Link href={`/texts/dataset/${id}`}>{name}</Link>
      </td>
      <td className={`mono ${classes.right}`}>{number(words)}</td>
      <td className={`mono ${classes.right}`}>{number(trainN)}</td>
      <td className={`mono ${classes.right}`}>{number(testN)}</td>
      <td className={leaks === null ? '' : classes.warn} title={leaks ?? undefined}>
        {heldOutInWords(dataset)}
      </td>
      <td className={`mono ${classes.right}`}>{template === null ? '–' : seed}</td>
      <td>{template ?? '–'}</td>
      <td>{usedBy(runs, stages)}</td>
      <td className={`${dataset.bytes === null ? classes.warn : 'mono'} ${classes.right}`}>
        {dataset.bytes === null ? 'file missing' : bytes(dataset.bytes)}
      </td>
      <td className="soft">
        <When at={madeAt} />
      </td>
      <td className={classes.right}>
        <Button variant="subtle" color="gray" aria-label={`Delete ${name}`} onClick={() => onRemove(id)}>
          Delete …
        </Button>
      </td>
    </tr>
  );
});

function usedBy(runs: number, stages: number): string {
  const parts = [...(runs > 0 ? [counted(runs, 'run')] : []), ...(stages > 0 ? [counted(stages, 'stage')] : [])];
  return parts.length === 0 ? '–' : parts.join(', ');
}
