/** Copies a file's content but not its mode: a copy of a read-only file must be writable, for instance to be synced. */
import { closeSync, readSync } from 'node:fs';
import { inputError } from '../errors.ts';
import { writePieces } from './atomic-write.ts';
import { openRegular } from './read-file.ts';

const PIECE = 2 ** 23;

/** Copies in pieces, as weights may be larger than memory. An error while reading names `from`, not the output. */
export function copyContent(from: string, to: string): void {
  writePieces(to, piecesOf(from), () => undefined);
}

function* piecesOf(file: string): Generator<Buffer> {
  const descriptor = reading(file, () => openRegular(file));
  try {
    const buffer = Buffer.alloc(PIECE);
    for (;;) {
      const got = reading(file, () => readSync(descriptor, buffer, 0, PIECE, null));
      if (got === 0) return;
      yield buffer.subarray(0, got);
    }
  } finally {
    closeSync(descriptor);
  }
}

function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const error = inputError(
      'FILE_UNREADABLE',
      `${file}: can't be read (${(cause as Error).message})`,
      'Give this user read permission for it, or copy or download it again.',
    );
    throw Object.assign(error, { cause });
  }
}
