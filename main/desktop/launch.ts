/** The app's launch arguments: a workspace, and files to open. Pure except for checking the disk. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Launch {
  /** Absolute; empty if --workspace has no folder, which opening then rejects. */
  readonly workspace: string | undefined;
  /** Files that exist, absolute. */
  readonly files: readonly string[];
}

/** Reads the arguments after the program's own; Chromium's switches among them are skipped. */
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
