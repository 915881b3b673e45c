/** Free disk space. */
import { statfsSync } from 'node:fs';

export interface DiskSpace {
  /** Available to this user. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The space of a folder's disk; throws the system's error if unknown. */
export function diskSpace(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The same, but null if unknown. */
export function knownDiskSpace(folder: string): DiskSpace | null {
  try {
    const space = diskSpace(folder);
    // Some network file systems say 0 of everything.
    return space.totalBytes === 0 ? null : space;
  } catch {
    return null;
  }
}
