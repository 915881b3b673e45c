/**
 * Deletes the folder of a run in two steps: it is moved to a hidden name beside its place, which can be undone, then
 * deleted. On Windows one file that is open elsewhere keeps a whole folder from being moved: nothing is deleted then.
 */
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { errorCode, type FileOps, hiddenSibling, move, readHidden } from '../../io/atomic-write.ts';

export interface FolderRemoval {
  putBack(): void;
  /** What can't be deleted now is deleted at a later start of the app (`sweepLeftovers`). */
  finish(): void;
}

/** Moves the folder aside; null if there is none. Throws RUN_FOLDER_IN_USE, with everything as it was. */
export function beginRemoval(folder: string, run: string, ops: FileOps = fs): FolderRemoval | null {
  if (!ops.existsSync(folder)) return null;
  const aside = moveAside(folder, run, ops);
  return {
    putBack: () => {
      if (aside !== folder) move(aside, folder, ops);
    },
    finish: () => {
      try {
        ops.rmSync(aside, { recursive: true, force: true, maxRetries: 5 });
      } catch (error) {
        // In its place it would be a run folder that no list shows.
        if (aside === folder) throw error;
      }
    },
  };
}

/** Puts folders back whose run is still in the history: the process was killed before it had taken the run out. */
export function restoreFolders(outputs: string, runs: ReadonlySet<string>): void {
  if (!fs.existsSync(outputs)) return;
  for (const entry of fs.readdirSync(outputs)) {
    const hidden = readHidden(entry);
    if (hidden?.role !== 'tmp' || !runs.has(hidden.original)) continue;
    const place = join(outputs, hidden.original);
    if (!fs.existsSync(place)) move(join(outputs, entry), place, fs);
  }
}

function moveAside(folder: string, run: string, ops: FileOps): string {
  const aside = hiddenSibling(folder, 'tmp');
  try {
    move(folder, aside, ops);
    return aside;
  } catch (error) {
    const code = errorCode(error);
    // A folder that came with a container's image can be deleted but not moved.
    if (code === 'EXDEV') return folder;
    if (code === undefined) throw error;
    throw new BraidError(
      'RUN_FOLDER_IN_USE',
      `${run} can't be deleted: the system doesn't let its folder ${folder} be moved (${code}). Nothing was deleted`,
      {
        cause: error,
        remedy: `Close what has files of that folder open, such as a spreadsheet, and check that this user may write to ${dirname(folder)}. Then delete the run again.`,
      },
    );
  }
}
