/**
 * TensorFlow's tensors and JavaScript's arrays are in one heap. V8 sees only the arrays, which are small, and lets their
 * garbage lie for many steps; so small pieces stay between the tensors, and the heap grows by hundreds of megabytes.
 */
import { v8Collector } from '../../garbage.ts';

/** The least time between two collections, in milliseconds; one takes about 20 in a trainer. */
const PAUSE_MS = 2000;

/** Gives a function that collects the garbage, if it didn't do so a moment ago. */
export function openCollection(collect: () => void = v8Collector(), now = (): number => performance.now()): () => void {
  let last = now();
  return () => {
    if (now() - last < PAUSE_MS) return;
    collect();
    last = now();
  };
}
