/** A virtualized list of rows of any height below a header, in one scroll area. */
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
  /** Estimates in pixels, before a row is measured. */
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
    reservedHeight: 200,
    // The header mounts alone: its height is reported during layout anyway.
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
