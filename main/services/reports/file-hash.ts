/** The SHA-256 of a file, by which others tell whether they have the same one. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, readSync } from 'node:fs';
import { openRegular } from '../../io/read-file.ts';

/** In hex; null: the file is gone. Read in parts: a dataset may be larger than memory. */
export function hashOf(path: string): string | null {
  if (!existsSync(path)) return null;
  const [hash, part, file] = [createHash('sha256'), Buffer.alloc(2 ** 20), openRegular(path)];
  try {
    for (let n = readSync(file, part); n > 0; n = readSync(file, part)) hash.update(part.subarray(0, n));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}
