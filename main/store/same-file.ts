/**
 * Whether the database is still the file that was opened. SQLite holds it open: once it was removed or another one was
 * put in its place, all that is written goes to a file that nobody will find, without an error.
 */
import { statSync } from 'node:fs';
import { BraidError } from '../errors.ts';

/** A check that throws DATABASE_GONE; cheap enough for every transaction (a few microseconds). */
export function openSameFileCheck(file: string): () => void {
  const opened = identityOf(file);
  return () => {
    const now = identityOf(file);
    if (now === opened) return;
    throw new BraidError(
      'DATABASE_GONE',
      now === null
        ? `The database ${file} was removed while Braid was using it; what is written now would be lost`
        : `The database ${file} was replaced by another file while Braid was using it; what is written now would be lost`,
      { remedy: 'Put the old file back, or close Braid and open the workspace again.' },
    );
  };
}

/** Device and inode; null where there is no such file. */
function identityOf(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
