/** Memory of the machine, or of the container that Braid runs in: os.totalmem and os.freemem know the machine only. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

export interface Memory {
  /** What a process can still take; caches that the system drops when asked count as free. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/**
 * On macOS, `availableMemory` counts what can be reclaimed from libuv 1.52 on; before that, unused pages only. `statistics`
 * are the counters of the container's control group, where it has a limit.
 */
export function hostMemory(statistics: () => string = readStatistics): Memory {
  const totalBytes = memoryLimit();
  // The limit counts files that were read or written as used, although the system can drop them.
  const droppable = totalBytes < totalmem() ? inactiveFileBytes(statistics()) : 0;
  return { freeBytes: Math.min(process.availableMemory() + droppable, totalBytes), totalBytes };
}

/** The machine's memory, or the container's limit. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** The address space that a process may have here (`ulimit -v`); null: as much as there is. */
export function addressSpaceLimit(): number | null {
  try {
    const [, soft] = /^Max address space\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    // Only Linux lists its limits there.
    return null;
  }
}

function inactiveFileBytes(statistics: string): number {
  return Number(/^(?:total_)?inactive_file (\d+)$/m.exec(statistics)?.[1] ?? 0);
}

/** Where a container sees its own counters, of the second and the first version of control groups. */
const STATISTICS = ['/sys/fs/cgroup/memory.stat', '/sys/fs/cgroup/memory/memory.stat'];

function readStatistics(): string {
  for (const file of STATISTICS) {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      // Not this version, or none.
    }
  }
  return '';
}
