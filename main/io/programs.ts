/** Programs on the PATH. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of the names that is a program in a folder of `path`. */
export function findProgram(names: readonly string[], path: string): string | undefined {
  const places = path.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return places.find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
