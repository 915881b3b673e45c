import { BraidError } from '../../errors.ts';
import { diskSpace } from '../disk-space.ts';

/** Left free beside what is written: the database and checkpoints go on. */
const RESERVE = 256 * 2 ** 20;

/** Throws where a folder's disk has no room for so many bytes. */
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
    `Expected ${mebibytes(bytes + RESERVE)} free at ${folder} for ${what}, got ${mebibytes(free)}`,
    { remedy: 'Free some space there, or use a workspace on another disk.' },
  );
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MiB`;
}
