/**
 * A virtual list that is drawn with its first rows at once. TanStack's own asks the page for the list's height and for its
 * scroll position as soon as it is put there: the page is laid out twice and drawn twice, before anything is seen of it.
 */
import { elementScroll, useVirtualizer, type Virtualizer, type VirtualizerOptions } from '@tanstack/react-virtual';

type Rows = Virtualizer<HTMLElement, Element>;
type Options = Partial<VirtualizerOptions<HTMLElement, Element>> &
  Pick<VirtualizerOptions<HTMLElement, Element>, 'count' | 'getScrollElement' | 'estimateSize'>;

export interface RowsOptions extends Options {
  /** Pixels of the window's height that the list is not given: says how many rows are made before it is measured. */
  readonly besides: number;
}

export function useRows({ besides, ...options }: RowsOptions): Rows {
  return useVirtualizer<HTMLElement, Element>({
    initialRect: { width: window.innerWidth, height: Math.max(0, window.innerHeight - besides) },
    observeElementRect: watchSize,
    scrollToFn: scrollOnceShown,
    ...options,
  });
}

/** The observer tells the size when the page is laid out anyway. */
function watchSize({ scrollElement }: Rows, tell: (size: { width: number; height: number }) => void): () => void {
  const observer = new ResizeObserver((entries) => {
    const box = entries.at(-1)?.borderBoxSize[0];
    if (box !== undefined) tell({ width: Math.round(box.inlineSize), height: Math.round(box.blockSize) });
  });
  if (scrollElement !== null) observer.observe(scrollElement);
  return () => observer.disconnect();
}

const shown = new WeakSet<Element>();

/** A list that was just put on the page stands at its top: to send it there would have the page laid out. */
const scrollOnceShown: typeof elementScroll = (offset, options, rows) => {
  const { scrollElement } = rows;
  if (scrollElement === null) return;
  const isAtTop = offset === 0 && !shown.has(scrollElement);
  shown.add(scrollElement);
  if (!isAtTop) elementScroll(offset, options, rows);
};
