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
    throw refusal(error, path, ops);
  }
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** What the system says about places that it says less about, or else than others do. */
function refusal(error: unknown, path: string, ops: Pick<typeof fs, 'existsSync'>): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const better = betterCode(code, path, ops);
  if (better === undefined) return error;
  return Object.assign(new Error(`${better}: mkdir '${path}'`, { cause: error }), {
    code: better,
    syscall: 'mkdir',
    path,
  });
}

function betterCode(code: unknown, path: string, ops: Pick<typeof fs, 'existsSync'>): string | undefined {
  const parent = dirname(path);
  if (ops.existsSync(parent) && !isFolder(parent)) return 'ENOTDIR';
  // Windows says so of a name that it can't hold, others of a place where nothing can be made.
  if (code === 'ENOENT' && ops.existsSync(parent)) return process.platform === 'win32' ? 'EINVAL' : 'EPERM';
  if (code === 'EEXIST' && !ops.existsSync(path)) return 'ELOOP';
  return undefined;
}
