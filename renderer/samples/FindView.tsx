/** Search results for completions: a list of any length, and the selected one beside it. */
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import type { FoundSample, SampleOrder } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import type { WordKind } from '../components/aligned-words.ts';
import { Choice } from '../components/Choice.tsx';
import { Empty, Failed, Loading } from '../components/Feedback.tsx';
import { counted } from '../components/format.ts';
import { isolated } from '../components/isolated.ts';
import { useRows } from '../components/use-rows.ts';
import { useKeys } from '../frame/keys.tsx';
import { ExportMenu } from './ExportMenu.tsx';
import { FilterBar } from './FilterBar.tsx';
import { FoundRow } from './FoundRow.tsx';
import { foundPage, PAGE } from './found.ts';
import { keyText } from './pins.ts';
import { type Filter, hostFilter, type Place } from './place.ts';
import { keyOf, SampleCard } from './SampleCard.tsx';
import classes from './Samples.module.css';

export interface FindViewProps {
  readonly runId: number | null;
  readonly place: Place;
  readonly onPlace: (change: Partial<Place>) => void;
  readonly hidden: ReadonlySet<WordKind>;
}

const orders: readonly { readonly value: SampleOrder; readonly label: string }[] = [
  { value: 'newest', label: 'newest first' },
  { value: 'lowest', label: 'lowest reward first' },
  { value: 'highest', label: 'highest reward first' },
];
const ROW = 62;

export function FindView({ runId, place, onPlace, hidden }: FindViewProps) {
  const { filter } = place;
  const asked = hostFilter(filter, runId);
  const components = useQuery(api.samples.components.queryOptions());
  // The first page is requested first: over all completions, counting takes as long as searching.
  const [first, count] = useQueries({
    queries: [
      { ...foundPage(asked, filter.order, 0), placeholderData: keepPreviousData },
      api.samples.count.queryOptions({ input: asked, placeholderData: keepPreviousData }),
    ],
  });
  const [at, setAt] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const { count: total = 0, isMore = false } = count.data ?? {};
  const virtual = useRows({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 4,
    reservedHeight: 150,
  });
  const items = virtual.getVirtualItems();
  const pages = pagesOf(items.map(({ index }) => index));
  const others = useQueries({
    queries: pages.map((page) => ({
      ...foundPage(asked, filter.order, page),
      placeholderData: keepPreviousData,
    })),
  });
  const pageAt = (index: number) => (index < PAGE ? first : others[pages.indexOf(Math.floor(index / PAGE))]);
  const rowAt = (index: number): FoundSample | undefined => pageAt(index)?.data?.[index % PAGE];
  const error = count.error ?? first.error ?? others.find((page) => page.error !== null)?.error ?? null;
  const chosen = rowAt(Math.min(at, Math.max(0, total - 1)));
  const go = (by: number): void => {
    const next = Math.max(0, Math.min(total - 1, at + by));
    setAt(next);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  const change = (next: Filter): void => {
    setAt(0);
    scroller.current?.scrollTo({ top: 0 });
    onPlace({ filter: next });
  };
  const latest = useRef(go);
  latest.current = go;
  useKeys(
    useMemo(
      () => [
        { key: 'ArrowUp', label: 'Previous completion', run: () => latest.current(-1) },
        { key: 'ArrowDown', label: 'Next completion', run: () => latest.current(1) },
      ],
      [],
    ),
  );
  return (
    <>
      <FilterBar filter={filter} components={components.data ?? []} onFilter={change} />
      <div className={classes.detailHead}>
        <span className="num" role="status">
          {count.data !== undefined && countText(total, isMore)}
        </span>
        <span className={classes.gap} />
        <Choice
          aria-label="Order"
          width={160}
          data={orders}
          value={filter.order}
          onChange={(order) => change({ ...filter, order })}
        />
        <ExportMenu filter={asked} order={filter.order} name="completions" disabled={total === 0} />
      </div>
      {error !== null && <Failed what="The search failed" error={error} onRetry={() => void count.refetch()} />}
      {count.data === undefined && error === null && <Loading what="completions" />}
      {count.data?.count === 0 && (
        <Empty title="No matching completions">
          <p>
            {filter.everyRun
              ? 'Relax a filter, or clear the search.'
              : 'Relax a filter, clear the search, or search all runs.'}
          </p>
        </Empty>
      )}
      {total > 0 && (
        <div className={classes.found}>
          <div ref={scroller} className={classes.scroller}>
            <ul className={classes.inner} style={{ height: virtual.getTotalSize() }} aria-label="Completions found">
              {items.map(({ index, start }) => (
                <li key={index} className={classes.row} style={{ transform: `translateY(${start}px)`, height: ROW }}>
                  <FoundRow sample={rowAt(index)} here={index === at} onChoose={() => setAt(index)} />
                </li>
              ))}
            </ul>
          </div>
          <div className={classes.beside}>
            {chosen !== undefined && (
              <>
                <SampleCard
                  key={keyText(keyOf(chosen))}
                  sample={chosen}
                  title={`${chosen.recordId}, completion ${chosen.index + 1}`}
                  hidden={hidden}
                  withTarget
                  onRecord={({ recordId }) => onPlace({ show: 'record', run: chosen.runId, record: recordId })}
                />
                <button
                  type="button"
                  className={classes.open}
                  onClick={() => onPlace({ show: 'step', run: chosen.runId, step: chosen.step, group: chosen.group })}
                >
                  Show the whole group: {isolated(chosen.runName)}, step {chosen.step}
                </button>
              </>
            )}
          </div>
        </div>
      )}
    </>
  );
}

function countText(count: number, isMore: boolean): string {
  const completions = counted(count, 'completion');
  return isMore ? `more than ${completions}; only the first are listed, exports include all` : completions;
}

/** The pages with these rows, except the first, which is always loaded so that something is selected. */
function pagesOf(indexes: readonly number[]): readonly number[] {
  return [...new Set(indexes.filter((index) => index >= PAGE).map((index) => Math.floor(index / PAGE)))];
}
