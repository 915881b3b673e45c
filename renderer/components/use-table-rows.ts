/** The rows of a long table that are near what is shown, in one scroll area; the others are room above and below. */
import type { RefObject } from 'react';
import { useRows } from './use-rows.ts';
import { useWhenIdle } from './use-when-idle.ts';

export interface TableRowsOptions {
  readonly count: number;
  readonly scroller: RefObject<HTMLElement | null>;
  /** Of a row in pixels, before it is measured. */
  readonly height: number;
}

export function useTableRows({ count, scroller, height }: TableRowsOptions) {
  const rows = useRows({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    // Rows beyond the visible ones are rendered once those are shown.
    overscan: useWhenIdle() ? 10 : 0,
    reservedHeight: 200,
  });
  const items = rows.getVirtualItems();
  return {
    /** Their places in the list. */
    shown: items.map(({ index }) => index),
    before: items[0]?.start ?? 0,
    after: Math.max(0, rows.getTotalSize() - (items.at(-1)?.end ?? 0)),
    /** The ref of a row, which has `data-index`. */
    measure: rows.measureElement,
  };
}
