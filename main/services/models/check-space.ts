import { BraidError } from '../../errors.ts';
import { diskSpace } from '../../io/disk-space.ts';
import { formatBytes } from '../../text/format.ts';

/** Kept free in addition: the database and checkpoints also need space. */
const RESERVE = 256 * 2 ** 20;

/** Throws if a folder's disk has less free space than needed. */
export function checkSpace(
  folder: string,
  bytes: number,
  what: string,
  freeOf: (folder: string) => number = (place) => diskSpace(place).freeBytes,
): void {
  const free = freeOf(folder);
  if (free >= bytes + RESERVE) return;
  throw new BraidError(
    'DISK_FULL',
    `Not enough space in ${folder} for ${what}: ${formatBytes(bytes + RESERVE)} needed, ${formatBytes(free)} free`,
    { remedy: 'Free some space there, or use a workspace on another disk.' },
  );
}
