/** Memory of the machine, or of the container that Braid runs in: os.totalmem and os.freemem know the machine only. */
import { totalmem } from 'node:os';

export interface Memory {
  /** What a process can still take; caches that the system drops when asked count as free. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** On macOS, `availableMemory` counts what can be reclaimed from libuv 1.52 on; before that, unused pages only. */
export function hostMemory(): Memory {
  return { freeBytes: process.availableMemory(), totalBytes: memoryLimit() };
}

/** The machine's memory, or the container's limit. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
