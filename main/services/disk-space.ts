/** What a disk has left. */
import { statfsSync } from 'node:fs';

export interface DiskSpace {
  /** For this user. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The space of the disk that holds a folder; throws what the system says where it doesn't tell. */
export function diskSpace(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The same where not knowing is no failure: null. */
export function knownDiskSpace(folder: string): DiskSpace | null {
  try {
    return diskSpace(folder);
  } catch {
    return null;
  }
}
