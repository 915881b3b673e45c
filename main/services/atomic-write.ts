/** Several files that change together: all of them or none. One file alone is `writeFileAtomic`'s. */
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inputError } from '../errors.ts';
import { errorCode, type FileOps, writeAll, writeError } from '../files.ts';

export interface NewFile {
  readonly path: string;
  readonly content: string;
}

/**
 * Writes the files beside their places, flushes them, then renames them: when one can't be written, none of the
 * places has changed and nothing is left behind.
 */
export function writeFilesAtomic(files: readonly NewFile[], ops: FileOps = fs): void {
  // Hidden and named as `cleanLeftovers` expects them, in case the process is killed here.
  const temporary = files.map(({ path }, i) => join(dirname(path), `.${basename(path)}.${process.pid}-${i}.tmp`));
  let current = '';
  try {
    files.forEach(({ path, content }, i) => {
      current = path;
      makeFolder(dirname(path), ops);
      writeFlushed(temporary[i] ?? '', content, ops);
    });
    files.forEach(({ path }, i) => {
      current = path;
      ops.renameSync(temporary[i] ?? '', path);
    });
  } catch (error) {
    for (const path of temporary) discard(path, ops);
    throw writeError(error, current);
  }
}

function makeFolder(folder: string, ops: FileOps): void {
  try {
    ops.mkdirSync(folder, { recursive: true });
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
    throw inputError('BAD_FOLDER', `Expected a folder at ${folder}, got a file on that path`, 'Choose another folder.');
  }
}

function writeFlushed(path: string, content: string, ops: FileOps): void {
  const file = ops.openSync(path, 'w');
  try {
    writeAll(file, content, ops);
    ops.fsyncSync(file);
  } finally {
    ops.closeSync(file);
  }
}

function discard(path: string, ops: FileOps): void {
  try {
    ops.rmSync(path, { force: true });
  } catch {
    // What kept the file from being written can keep it from being removed; that first reason is the one to tell.
  }
}
