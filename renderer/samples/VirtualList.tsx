/** Rows of any height under a head, in one scroll; only those in view exist. */
import { measureElement } from '@tanstack/react-virtual';
import type { ReactNode, RefObject } from 'react';
import { useRows } from '../components/use-rows.ts';
import classes from './Samples.module.css';

export interface VirtualListProps {
  readonly label: string;
  readonly scroller: RefObject<HTMLElement | null>;
  readonly className?: string;
  /** The first row. */
  readonly head: ReactNode;
  /** Guesses in pixels, before a row is measured. */
  readonly headHeight: number;
  readonly rowHeight: number;
  readonly count: number;
  readonly row: (index: number) => ReactNode;
}

export function VirtualList(props: VirtualListProps) {
  const { label, scroller, className = '', head, headHeight, rowHeight, count, row } = props;
  const virtual = useRows({
    count: count + 1,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (index === 0 ? headHeight : rowHeight),
    overscan: 1,
    besides: 200,
    // The head is put there with nothing below it: its height is told when the page is laid out anyway.
    measureElement: (row, entry, rows) =>
      entry === undefined && rows.indexFromElement(row) === 0
        ? (rows.measurementsCache[0]?.size ?? headHeight)
        : measureElement(row, entry, rows),
  });
  return (
    <section ref={scroller} className={`${classes.completions} ${className}`} aria-label={label} tabIndex={-1}>
      <div className={classes.inner} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className={classes.row}
            style={{ transform: `translateY(${start}px)` }}
          >
            {index === 0 ? head : row(index - 1)}
          </div>
        ))}
      </div>
    </section>
  );
}
