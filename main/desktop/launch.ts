/** What a start of the app was given: a workspace, and files to open. Pure but for a look at the disk. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Launch {
  /** Absolute; empty where --workspace came without a folder, which opening it refuses. */
  readonly workspace: string | undefined;
  /** Files that exist, absolute. */
  readonly files: readonly string[];
}

/** Reads the arguments after the program's own; Chromium's switches among them are passed over. */
export function readLaunch(given: readonly string[], cwd: string): Launch {
  let workspace: string | undefined;
  const files: string[] = [];
  for (let i = 0; i < given.length; i++) {
    const argument = given[i] ?? '';
    if (argument === '--workspace') workspace = given[++i] ?? '';
    else if (argument.startsWith('--workspace=')) workspace = argument.slice('--workspace='.length);
    else if (!argument.startsWith('-') && isFile(resolve(cwd, argument))) files.push(resolve(cwd, argument));
  }
  return { workspace: workspace ? resolve(cwd, workspace) : workspace, files };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
