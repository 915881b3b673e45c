/**
 * A virtual list that renders its first rows immediately. TanStack's default reads the list's height and scroll
 * position on mount, so that the page is laid out and painted twice before anything is visible.
 */
import { elementScroll, useVirtualizer, type Virtualizer, type VirtualizerOptions } from '@tanstack/react-virtual';

type Rows = Virtualizer<HTMLElement, Element>;
type Options = Partial<VirtualizerOptions<HTMLElement, Element>> &
  Pick<VirtualizerOptions<HTMLElement, Element>, 'count' | 'getScrollElement' | 'estimateSize'>;

export interface RowsOptions extends Options {
  /**
   * Pixels of the window's height that the list doesn't get; decides how many rows are rendered before it is measured.
   */
  readonly reservedHeight: number;
}

export function useRows({ reservedHeight, ...options }: RowsOptions): Rows {
  return useVirtualizer<HTMLElement, Element>({
    initialRect: { width: window.innerWidth, height: Math.max(0, window.innerHeight - reservedHeight) },
    observeElementRect: watchSize,
    scrollToFn: scrollOnceShown,
    ...options,
  });
}

/** The observer reports the size during layout, so no extra layout is forced. */
function watchSize({ scrollElement }: Rows, report: (size: { width: number; height: number }) => void): () => void {
  const observer = new ResizeObserver((entries) => {
    const box = entries.at(-1)?.borderBoxSize[0];
    if (box !== undefined) report({ width: Math.round(box.inlineSize), height: Math.round(box.blockSize) });
  });
  if (scrollElement !== null) observer.observe(scrollElement);
  return () => observer.disconnect();
}

const shown = new WeakSet<Element>();

/** A newly mounted list is already at its top; scrolling it there would force a layout. */
const scrollOnceShown: typeof elementScroll = (offset, options, rows) => {
  const { scrollElement } = rows;
  if (scrollElement === null) return;
  const isAtTop = offset === 0 && !shown.has(scrollElement);
  shown.add(scrollElement);
  if (!isAtTop) elementScroll(offset, options, rows);
};
