/** A JSON file of the user's own configuration, which several processes may change at once. */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { BraidError } from '../../errors.ts';
import { errorCode, writeError, writeFileAtomic } from '../../io/atomic-write.ts';
import { makeFolder } from '../../io/make-folder.ts';
import { exclusively } from '../../store/exclusive.ts';

export interface UserFile<T> {
  read(): T;
  /** Replaces the content by what `edit` makes of it; a change of another process comes before or after, never between. */
  change(edit: (before: T) => T): void;
}

export interface UserFileOptions<T> {
  readonly schema: z.ZodType<T>;
  /** What a file that doesn't exist yet holds. */
  readonly empty: T;
  /** "the tokens that Braid keeps", for messages. */
  readonly what: string;
  /** Of the error for a file that can't be read. */
  readonly code: string;
  readonly remedy: string;
}

/** Opens the file; it is made by the first change, readable by its owner only. */
export function openUserFile<T>(file: string, { schema, empty, what, code, remedy }: UserFileOptions<T>): UserFile<T> {
  const read = (): T => {
    try {
      return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return empty;
      throw new BraidError(code, `${file}: expected ${what}, and can't read them`, { cause, remedy });
    }
  };
  return {
    read,
    change: (edit) => {
      makeOwn(dirname(file), what);
      exclusively(`${file}.lock`, what, () => {
        writeFileAtomic(file, `${JSON.stringify(edit(read()), null, 2)}\n`, { mode: 0o600, what });
      });
    },
  };
}

function makeOwn(folder: string, what: string): void {
  try {
    makeFolder(folder, { mode: 0o700 });
  } catch (error) {
    throw writeError(error, folder, what);
  }
}
