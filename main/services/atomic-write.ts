/** Files that are there whole or not at all. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { BraidError } from '../errors.ts';

export interface NewFile {
  readonly path: string;
  readonly content: string;
}

/** How bytes reach the disk; tests put a full disk here. */
export type WriteBytes = (descriptor: number, bytes: Uint8Array, offset: number) => number;

const toDisk: WriteBytes = (descriptor, bytes, offset) => writeSync(descriptor, bytes, offset);

/**
 * Writes several files beside their places, flushes them, then renames them: when one can't be written, none of the
 * places has changed and nothing is left behind.
 */
export function writeFilesWhole(files: readonly NewFile[], write: WriteBytes = toDisk): void {
  const temporary = files.map(({ path }) => `${path}.${process.pid}.tmp`);
  let current = files[0]?.path ?? '';
  try {
    files.forEach(({ path, content }, i) => {
      current = path;
      mkdirSync(dirname(path), { recursive: true });
      writeFlushed(temporary[i] ?? '', content, write);
    });
    files.forEach(({ path }, i) => {
      current = path;
      renameSync(temporary[i] ?? '', path);
    });
    for (const folder of new Set(files.map(({ path }) => dirname(path)))) flushFolder(folder);
  } catch (error) {
    temporary.forEach(discard);
    throw writeError(current, error as NodeJS.ErrnoException);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What kept the file from being written can keep it from being removed; that first reason is the one to tell.
  }
}

function writeFlushed(path: string, content: string, write: WriteBytes): void {
  const bytes = Buffer.from(content, 'utf8');
  const descriptor = openSync(path, 'w');
  try {
    for (let offset = 0; offset < bytes.length; ) offset += write(descriptor, bytes, offset);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The renames themselves last a power cut only once the folder is flushed; Windows has no such call. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeError(path: string, error: NodeJS.ErrnoException): BraidError {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return new BraidError('DISK_FULL', `Expected room to write ${path}, got a full disk; nothing was changed`, {
      cause: error,
      remedy: 'Free some space on that disk, or choose another folder, and try again.',
    });
  const reason = error.code === undefined ? error.message : (WRITE_REASONS[error.code] ?? error.code);
  return new BraidError('CANNOT_WRITE', `Expected to write ${path}, but ${reason}`, {
    kind: 'input',
    cause: error,
    remedy: 'Choose a folder that this user may write to.',
  });
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'that disk is read-only',
  ENOTDIR: 'a part of that path is a file, not a folder',
  EEXIST: 'a part of that path is a file, not a folder',
  EISDIR: 'a folder of that name is in the way',
};
