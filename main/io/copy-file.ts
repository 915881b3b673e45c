/** Copies that can be written: one of a read-only file must be, for instance to be changed or synced. */
import { chmodSync, closeSync, cpSync, lstatSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { writePieces } from './atomic-write.ts';
import { openRegular } from './read-file.ts';

const PIECE = 2 ** 23;

/** Copies a folder, links as links; programs stay executable. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  makeWritable(to);
}

const OWNER_WRITES = 0o200;

function makeWritable(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  chmodSync(path, stats.mode | OWNER_WRITES);
  if (stats.isDirectory()) for (const name of readdirSync(path)) makeWritable(join(path, name));
}

/**
 * Copies a file's content but not its mode, in pieces, as weights may be larger than memory. An error while reading names
 * `from`, not the output.
 */
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
