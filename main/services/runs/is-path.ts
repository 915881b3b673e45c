/** What of a start is a path, and can't be the name of a run. */
import { isAbsolute } from 'node:path';

/**
 * Whether a start is a path whatever runs are called. One rule for all who ask: a run that is named like a path must not
 * get past the check of what a page may read.
 */
export function isPath(start: string): boolean {
  return isAbsolute(start) || /^\.{1,2}([\\/]|$)/.test(start);
}
