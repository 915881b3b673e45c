/**
 * Gives back the memory of large messages. V8 collects when something is allocated, and an idle host allocates
 * nothing: 95 MB that a page sent stayed as 300 MB, for hours.
 */
import { v8Collector } from '../garbage.ts';

/** Smaller messages go with the next ordinary collection. */
const LARGE = 8 * 2 ** 20;
/** The answer goes out first; several large messages are one collection. */
const DELAY_MS = 2000;

type CollectLater = (options: { readonly type: 'major'; readonly execution: 'async' }) => Promise<void>;

/** Gives a function to call with each message's bytes; it collects garbage a while after a large one. */
export function openMemoryRelease(collect: CollectLater = v8Collector()): (bytes: number) => void {
  let due: NodeJS.Timeout | null = null;
  return (bytes) => {
    if (bytes < LARGE) return;
    if (due !== null) return void due.refresh();
    due = setTimeout(() => {
      due = null;
      void collect({ type: 'major', execution: 'async' });
    }, DELAY_MS).unref();
  };
}
