/**
 * TensorFlow's tensors and JavaScript's arrays are in one heap. V8 sees only the arrays, which are small, and lets their
 * garbage lie for many steps; so small pieces stay between the tensors, and the heap grows by hundreds of megabytes.
 */
import { v8Collector } from '../../garbage.ts';

/** The least time between two collections, in milliseconds; one takes about 20 in a trainer. */
const PAUSE_MS = 2000;
/** The same of the newest garbage alone: one takes 1 to 2. */
const NEWEST_PAUSE_MS = 100;

/** Gives a function that collects the garbage, if it didn't do so a moment ago. */
export function openCollection(collect: () => void = v8Collector(), now?: () => number): () => void {
  return atMostEvery(PAUSE_MS, collect, now);
}

/** The same of the newest garbage, as the arrays of an op are. */
export function openNewestCollection(now?: () => number): () => void {
  const collect = v8Collector();
  return atMostEvery(NEWEST_PAUSE_MS, () => collect({ type: 'minor' }), now);
}

function atMostEvery(pauseMs: number, work: () => void, now = (): number => performance.now()): () => void {
  let last = now();
  return () => {
    if (now() - last < pauseMs) return;
    work();
    last = now();
  };
}
