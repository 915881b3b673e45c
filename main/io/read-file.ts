/** Reading files whose paths come from outside: a device or a pipe may never end, and opening a pipe may never return. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** The longest text that V8 can hold is a little longer. */
export const LARGEST_TEXT = 2 ** 29 - 2 ** 20;

/**
 * Opens a regular file for reading; gives its descriptor. Errors have a `code`, as Node's own: ENOTREG for others. `flags`:
 * further ones of open.
 */
export function openRegular(file: string, flags = 0): number {
  // Without O_NONBLOCK a pipe would hold the caller until somebody writes to it. Windows has neither.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  const stats = fstatSync(descriptor);
  if (stats.isFile()) return descriptor;
  closeSync(descriptor);
  throw stats.isDirectory()
    ? fault('EISDIR', 'expected a file, got a folder')
    : fault('ENOTREG', 'expected a file, got a device or a pipe');
}

/** Reads a regular file whole; EFBIG where it is larger than `most` bytes. */
export function readRegular(file: string, most = LARGEST_TEXT): Buffer {
  const descriptor = openRegular(file);
  try {
    const { size } = fstatSync(descriptor);
    if (size > most) throw fault('EFBIG', `expected a file of at most ${mebibytes(most)} MiB, got ${mebibytes(size)}`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function fault(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
