/** Programs on the PATH. */
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The first of the names that is a program in a folder of `path`. Empty and relative entries mean the current folder or
 * one below it, which may hold what somebody else wrote: they are skipped.
 */
export function findProgram(names: readonly string[], path: string): string | undefined {
  const folders = path.split(delimiter).filter(isAbsolute);
  const places = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return places.find(isProgram);
}

/** What a command's program is called here: Windows' Python is python, and its python3 opens the Store. */
export function programHere(program: string): string {
  return process.platform === 'win32' && program === 'python3' ? 'python' : program;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
