/**
 * Atomic writes: a file is written to a temporary name next to its target, fsynced, then renamed, so that readers see
 * the old or the new one. Errors say what was being written, where, that the old state is intact, and what to do.
 */
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BraidError } from '../errors.ts';
import { nameFault } from './foreign-name.ts';
import { makeFolder } from './make-folder.ts';
import { renameSettled } from './rename.ts';

/** The calls that write; tests pass ones that fail. */
export type FileOps = Pick<
  typeof fs,
  | 'closeSync'
  | 'existsSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'linkSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'renameSync'
  | 'rmSync'
  | 'writeSync'
>;

export interface WriteOptions {
  /** What is being written, for messages: "the checkpoint of step 20". */
  readonly what?: string;
  /** Permissions of the new file; by default what the user's umask leaves. */
  readonly mode?: number;
  readonly ops?: FileOps;
}

let counter = 0;

/** Replaces the file at `path`: readers see the old or the new content, never part of it. */
export function writeFileAtomic(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  const ops = options.ops ?? fs;
  const temporary = hiddenSibling(path, 'tmp');
  try {
    writeThrough(temporary, content, ops, options.mode);
    move(temporary, path, ops);
    syncFolder(dirname(path), ops);
  } catch (error) {
    removeQuietly(temporary, ops);
    throw writeError(error, path, options.what);
  }
}

/**
 * Replaces the folder at `target` with what `fill` writes into a temporary folder. If `fill` or the disk fails, the
 * existing folder is kept.
 */
export function writeFolderAtomic(target: string, fill: (temporary: string) => void, options: WriteOptions = {}): void {
  const ops = options.ops ?? fs;
  const temporary = hiddenSibling(target, 'tmp');
  try {
    makeFolder(dirname(target), { ops });
    cleanLeftovers(dirname(target), basename(target), ops);
    ops.mkdirSync(temporary);
    fill(temporary);
    syncTree(temporary, ops);
    replaceFolder(temporary, target, ops);
  } catch (error) {
    removeQuietly(temporary, ops);
    throw writeError(error, target, options.what);
  }
}

/**
 * Cleans up after a killed process in `folder`: deletes partial temporary files, and restores a folder that was moved
 * aside and never replaced. With `name`, only for that file or folder. Not for a folder in which another process is
 * writing.
 */
export function cleanLeftovers(folder: string, name?: string, ops: FileOps = fs): void {
  for (const entry of ops.readdirSync(folder)) {
    const hidden = readHidden(entry);
    if (hidden === null || (name !== undefined && name !== hidden.original)) continue;
    const { original, role } = hidden;
    const path = join(folder, entry);
    if (role === 'old' && !ops.existsSync(join(folder, original))) move(path, join(folder, original), ops);
    else ops.rmSync(path, { recursive: true, force: true });
  }
}

/** Turns an error of Node's file functions into one that the user can act on; others are returned unchanged. */
export function writeError(error: unknown, path: string, what = basename(path)): unknown {
  const code = errorCode(error);
  if (code === undefined) return error;
  const {
    code: ours,
    why,
    remedy,
  } = (process.platform === 'win32' ? onWindows(code, path) : undefined) ??
    explanations[code] ?? {
      code: 'WRITE_FAILED',
      why: `the system refused (${code})`,
      remedy: 'Check the path and the disk, then try again.',
    };
  return new BraidError(ours, `Can't write ${what} to ${path}: ${why}. What was stored there before is intact`, {
    cause: error,
    remedy,
  });
}

/** Node's code of a system error, "ENOSPC" for instance. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

interface Explanation {
  readonly code: string;
  readonly why: string;
  readonly remedy: string;
}

const full = {
  code: 'DISK_FULL',
  remedy: 'Free some space there, or use a workspace on another disk, then try again.',
};
const denied = {
  code: 'NO_PERMISSION',
  why: 'this user may not write there',
  remedy: 'Give this user write permission there, or use another workspace (--workspace).',
};

const explanations: Readonly<Record<string, Explanation>> = {
  ENOSPC: { ...full, why: 'the disk is full' },
  EDQUOT: { ...full, why: "this user's disk quota is used up" },
  EACCES: denied,
  EPERM: denied,
  EROFS: {
    code: 'READ_ONLY',
    why: 'that disk is read-only',
    remedy: 'Make it writable again, or use a place on another disk; --workspace names another workspace.',
  },
  ENOENT: {
    code: 'NO_FOLDER',
    why: "its folder doesn't exist",
    remedy: 'Create that folder, or reconnect the disk that holds it, then try again.',
  },
  ENOTDIR: {
    code: 'NO_FOLDER',
    why: 'a part of that path is a file, not a folder',
    remedy: 'Choose a path whose parts are folders.',
  },
  EINVAL: {
    code: 'BAD_NAME',
    why: "the disk can't hold a file of that name",
    remedy: 'Choose a short name of letters, digits and dashes.',
  },
  ENAMETOOLONG: {
    code: 'NAME_TOO_LONG',
    why: 'that name or path is too long for the disk',
    remedy: 'Choose a shorter name, or a workspace whose path is shorter (--workspace).',
  },
  ELOOP: {
    code: 'WRITE_FAILED',
    why: 'there is a link in its place',
    remedy: 'Remove the link, then try again.',
  },
  EEXIST: {
    code: 'WRITE_FAILED',
    why: 'there is a file with that name',
    remedy: 'Move it away or choose another name.',
  },
  EISDIR: {
    code: 'WRITE_FAILED',
    why: 'there is a folder with that name',
    remedy: 'Move it away or choose another name.',
  },
};

/** Windows says "not permitted" and "not found" of more than others do. */
function onWindows(code: string, path: string): Explanation | undefined {
  const parent = fs.statSync(dirname(path), { throwIfNoEntry: false });
  if (parent?.isFile()) return explanations.ENOTDIR;
  if (code === 'ENOENT' && parent && nameFault(basename(path)) !== null) return explanations.EINVAL;
  if (!['EACCES', 'EPERM', 'EBUSY'].includes(code)) return undefined;
  return {
    ...denied,
    why: 'another program has it open, or this user may not write there',
    remedy: `Close what has it open. ${denied.remedy}`,
  };
}

/**
 * A name beside `path`: in the same folder (a rename cannot cross disks), hidden from whoever lists checkpoints or datasets.
 * Nothing has it: somebody else's workspace could bring links under such names, to be written through.
 */
export function hiddenSibling(path: string, role: 'tmp' | 'old'): string {
  for (;;) {
    counter += 1;
    const name = join(dirname(path), `.${basename(path)}.${process.pid}-${counter}.${role}`);
    if (!isThere(name)) return name;
  }
}

/** Also of a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    fs.lstatSync(path);
    return true;
  } catch {
    // Whoever writes there says what else is wrong.
    return false;
  }
}

export interface HiddenName {
  /** The name that it stands for. */
  readonly original: string;
  /** The process that made it. */
  readonly pid: number;
  readonly role: 'tmp' | 'old';
}

/** What a name says if `hiddenSibling` made it; null if not. */
export function readHidden(entry: string): HiddenName | null {
  const [, original, pid, role] = /^\.(.+)\.(\d+)-\d+\.(tmp|old)$/.exec(entry) ?? [];
  if (original === undefined || (role !== 'tmp' && role !== 'old')) return null;
  return { original, pid: Number(pid), role };
}

function replaceFolder(temporary: string, target: string, ops: FileOps): void {
  if (!ops.existsSync(target)) {
    move(temporary, target, ops);
    syncFolder(dirname(target), ops);
    return;
  }
  // A non-empty folder can't be renamed over: it is moved aside, and `cleanLeftovers` can restore it.
  const old = hiddenSibling(target, 'old');
  move(target, old, ops);
  try {
    move(temporary, target, ops);
  } catch (error) {
    move(old, target, ops);
    throw error;
  }
  syncFolder(dirname(target), ops);
  removeQuietly(old, ops);
}

/** Renames what may have been written a moment ago. */
export function move(from: string, to: string, ops: FileOps): void {
  try {
    renameSettled(from, to, { rename: ops.renameSync });
  } catch (error) {
    throw errorCode(error) === 'EPERM' && onFolder(from, to) ? fileOnFolder(error, to) : error;
  }
}

/** Windows says of this what it says of a place that is forbidden. */
function onFolder(from: string, to: string): boolean {
  const [what, place] = [from, to].map((path) => fs.lstatSync(path, { throwIfNoEntry: false }));
  return what?.isFile() === true && place?.isDirectory() === true;
}

function fileOnFolder(cause: unknown, path: string): Error {
  const error = new Error(`EISDIR: rename to '${path}'`, { cause });
  return Object.assign(error, { code: 'EISDIR', syscall: 'rename', path });
}

/** Writes a file and forces it to the disk. */
export function writeThrough(path: string, content: string | Uint8Array, ops: FileOps, mode?: number): void {
  const file = ops.openSync(path, 'w', mode);
  try {
    writeAll(file, content, ops);
    ops.fsyncSync(file);
  } finally {
    ops.closeSync(file);
  }
}

/** Writes everything: one call may write less than it was given. */
export function writeAll(file: number, content: string | Uint8Array, ops: FileOps = fs): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let done = 0; done < bytes.length; ) done += ops.writeSync(file, bytes, done, bytes.length - done);
}

/** Writes a file in pieces, so that it is never in memory as a whole; `onPiece` is called with each once it is written. */
export function writePieces<Piece extends string | Uint8Array>(
  path: string,
  pieces: Iterable<Piece>,
  onPiece: (piece: Piece) => void,
): void {
  const file = fs.openSync(path, 'w');
  try {
    for (const piece of pieces) {
      writeAll(file, piece);
      onPiece(piece);
    }
  } finally {
    fs.closeSync(file);
  }
}

function syncTree(folder: string, ops: FileOps): void {
  for (const entry of ops.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) syncTree(path, ops);
    else if (entry.isFile()) syncFile(path, ops);
  }
  syncFolder(folder, ops);
}

function syncFile(path: string, ops: FileOps): void {
  const file = ops.openSync(path, 'r+');
  try {
    ops.fsyncSync(file);
  } finally {
    ops.closeSync(file);
  }
}

/** Makes a rename last. Windows has no such call for folders and some file systems refuse it: both keep order anyway. */
export function syncFolder(folder: string, ops: FileOps): void {
  if (process.platform === 'win32') return;
  const handle = ops.openSync(folder, 'r');
  try {
    ops.fsyncSync(handle);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error;
  } finally {
    ops.closeSync(handle);
  }
}

/** Tidying after a failure: its own failure must not hide the first, and the next write cleans up. */
export function removeQuietly(path: string, ops: FileOps): void {
  try {
    ops.rmSync(path, { recursive: true, force: true });
  } catch {
    // See above.
  }
}
