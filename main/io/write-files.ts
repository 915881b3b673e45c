/** Writes several files together: all of them or none. For a single file use `writeFileAtomic`. */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { inputError } from '../errors.ts';
import {
  errorCode,
  type FileOps,
  hiddenSibling,
  move,
  removeQuietly,
  syncFolder,
  writeError,
  writeThrough,
} from './atomic-write.ts';
import { makeFolder } from './make-folder.ts';

export interface NewFile {
  readonly path: string;
  readonly content: string | Uint8Array;
}

/** A file on its way: its new content beside its place, and what was there before, until all are in place. */
interface Change {
  readonly path: string;
  readonly temporary: string;
  readonly old: string;
  kept: boolean;
  placed: boolean;
}

/**
 * Writes the files beside their places, flushes them, then renames them. When one can't be written or put in its
 * place, every place has what it had before and nothing is left behind. (A power cut between two renames leaves some
 * files new and some old, each of them whole.)
 */
export function writeFilesAtomic(files: readonly NewFile[], ops: FileOps = fs): void {
  // Hidden and named as `cleanLeftovers` expects them, in case the process is killed here.
  const changes = files.map(({ path }): Change => {
    const [temporary, old] = [hiddenSibling(path, 'tmp'), hiddenSibling(path, 'old')];
    return { path, temporary, old, kept: false, placed: false };
  });
  let current = '';
  try {
    files.forEach(({ path, content }, i) => {
      current = path;
      makePlace(dirname(path), ops);
      writeThrough(changes[i]?.temporary ?? '', content, ops);
    });
    for (const change of changes) {
      current = change.path;
      change.kept = keepOld(change, ops);
      move(change.temporary, change.path, ops);
      change.placed = true;
    }
    for (const folder of new Set(files.map(({ path }) => dirname(path)))) syncFolder(folder, ops);
  } catch (error) {
    for (const change of changes.toReversed()) takeBack(change, ops);
    throw writeError(error, current);
  }
  for (const { old, kept } of changes) if (kept) removeQuietly(old, ops);
}

/** A second name for what is there, so that its place is never empty; a move aside where the disk knows no links. */
function keepOld({ path, old }: Change, ops: FileOps): boolean {
  const there = ops.lstatSync(path, { throwIfNoEntry: false });
  // A folder can't be written over: the rename says so.
  if (there === undefined || there.isDirectory()) return false;
  try {
    ops.linkSync(path, old);
  } catch {
    move(path, old, ops);
  }
  return true;
}

function takeBack({ path, temporary, old, kept, placed }: Change, ops: FileOps): void {
  removeQuietly(temporary, ops);
  if (placed && !kept) removeQuietly(path, ops);
  if (!kept) return;
  try {
    move(old, path, ops);
    // A link to the same file is left where it is.
    removeQuietly(old, ops);
  } catch {
    // The first failure is the one to report; `cleanLeftovers` brings back what is missing.
  }
}

function makePlace(folder: string, ops: FileOps): void {
  try {
    makeFolder(folder, { ops });
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
    throw inputError('BAD_FOLDER', `Expected a folder at ${folder}, got a file on that path`, 'Choose another folder.');
  }
}
