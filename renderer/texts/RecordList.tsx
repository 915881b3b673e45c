/** The records of a dataset, fetched page by page as they scroll into view. */
import { useQueries } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { RecordView } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { useRows } from '../components/use-rows.ts';
import classes from './Records.module.css';
import { ShownRecord } from './ShownRecord.tsx';

export interface RecordListProps {
  readonly id: number;
  readonly side: 'train' | 'test';
  readonly search: string;
  /** null: not known yet. */
  readonly onTotal: (total: number | null) => void;
}

const PAGE = 40;

export function RecordList({ id, side, search, onTotal }: RecordListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [total, setTotal] = useState<number | null>(null);
  const rows = useRows({
    count: total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => 128,
    overscan: 4,
    reservedHeight: 240,
  });
  const items = rows.getVirtualItems();
  const first = Math.floor((items[0]?.index ?? 0) / PAGE);
  const last = Math.floor((items.at(-1)?.index ?? 0) / PAGE);
  const pages = useQueries({
    queries: Array.from({ length: last - first + 1 }, (_, i) =>
      api.datasets.records.queryOptions({
        input: { id, side, offset: (first + i) * PAGE, limit: PAGE, ...(search !== '' && { search }) },
      }),
    ),
  });
  const known = pages.find(({ data }) => data !== undefined)?.data?.total;
  useEffect(() => {
    if (known === undefined) return;
    setTotal(known);
    onTotal(known);
  }, [known, onTotal]);
  // The next list counts its own.
  useEffect(() => () => onTotal(null), [onTotal]);
  const failed = pages.find(({ error }) => error !== null);
  const recordAt = (index: number): RecordView | undefined =>
    pages[Math.floor(index / PAGE) - first]?.data?.records[index % PAGE];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section ref={scroller} className={classes.scroller} tabIndex={0} aria-label="Records">
      {failed !== undefined && (
        <Failed what="The records can't be read" error={failed.error} onRetry={() => void failed.refetch()} />
      )}
      {total === null && failed === undefined && <Loading what="the records" />}
      {total === 0 && <Empty title={search === '' ? 'No records on this side' : `No record contains “${search}”`} />}
      <div className={classes.rows} style={{ height: rows.getTotalSize() }}>
        {items.map(({ index, key, start }) => (
          <div key={key} ref={rows.measureElement} data-index={index} style={{ transform: `translateY(${start}px)` }}>
            <Waited view={recordAt(index)} />
          </div>
        ))}
      </div>
    </section>
  );
}

function Waited({ view }: { readonly view: RecordView | undefined }) {
  return view === undefined ? <div className={classes.waiting} aria-hidden="true" /> : <ShownRecord view={view} />;
}
