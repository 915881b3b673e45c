/**
 * Creates folders. Node's own `recursive` never returns where a folder says that it is there and that nothing can be
 * made in it, as below /proc: each folder is tried once here.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';

export interface FolderOptions {
  readonly mode?: number;
  readonly ops?: Pick<typeof fs, 'existsSync' | 'mkdirSync'>;
}

/** Creates a folder and those above it; one that is there stays as it is. Returns whether it was created. */
export function makeFolder(path: string, { mode, ops = fs }: FolderOptions = {}): boolean {
  if (isFolder(path)) return false;
  const parent = dirname(path);
  if (parent !== path && !ops.existsSync(parent)) makeFolder(parent, { ...(mode !== undefined && { mode }), ops });
  try {
    ops.mkdirSync(path, mode);
    return true;
  } catch (error) {
    // Made by another process meanwhile.
    if (isFolder(path)) return false;
    throw refusal(error, path, ops.existsSync(parent), ops.existsSync(path));
  }
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** What the system says about two places that it says less about. */
function refusal(error: unknown, path: string, hasParent: boolean, isThere: boolean): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const better = code === 'ENOENT' && hasParent ? 'EPERM' : code === 'EEXIST' && !isThere ? 'ELOOP' : undefined;
  if (better === undefined) return error;
  return Object.assign(new Error(`${better}: mkdir '${path}'`, { cause: error }), {
    code: better,
    syscall: 'mkdir',
    path,
  });
}
