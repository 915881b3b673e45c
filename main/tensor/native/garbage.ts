/**
 * TensorFlow's tensors and JavaScript's arrays lie in one heap. V8 sees only the arrays, which are small, and lets their
 * garbage lie for many steps; so little pieces stay between the tensors, and the heap grows by hundreds of megabytes.
 */
import v8 from 'node:v8';
import vm from 'node:vm';

/** The least time between two collections, in milliseconds; one takes about 20. */
const PAUSE = 2000;

let collect: (() => void) | null = null;
let last = 0;

/** Collects the garbage, if that was a while ago. */
export function collectGarbage(): void {
  const now = performance.now();
  if (now - last < PAUSE) return;
  collect ??= findCollector();
  collect();
  last = performance.now();
}

/** V8's own, which programs can't see without this flag. */
function findCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const gc: unknown = vm.runInNewContext('globalThis.gc');
  v8.setFlagsFromString('--no-expose-gc');
  return typeof gc === 'function' ? () => void gc() : () => undefined;
}
