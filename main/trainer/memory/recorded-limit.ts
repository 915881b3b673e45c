/** The limit of completions that a checkpoint was trained with. */
import { join } from 'node:path';
import { readRegular } from '../../io/read-file.ts';
import { PROGRESS_FILE } from './decide.ts';

/** In tokens; null: the folder isn't a checkpoint of Braid, or is older than this. */
export function recordedLimit(folder: string | null): number | null {
  if (folder === null) return null;
  try {
    const { maxCompletionLength: limit } = JSON.parse(readRegular(join(folder, PROGRESS_FILE)).toString('utf8')) as {
      readonly maxCompletionLength?: unknown;
    };
    return typeof limit === 'number' && Number.isSafeInteger(limit) && limit > 0 ? limit : null;
  } catch {
    // A resume reports a damaged file.
    return null;
  }
}
