/**
 * Hidden folders and files in which something was being written or deleted when its process was killed:
 * `.smollm.4711-2.tmp`, as `hiddenSibling` names them. No list shows them, but they may take gigabytes.
 */
import { readdirSync, renameSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readHidden } from '../../io/atomic-write.ts';
import { processExists } from '../../io/process-exists.ts';

interface SweepOptions {
  /** Only those of this file or folder. */
  readonly name?: string;
  /** Called before this process has made any: those with its id are of an earlier process, as often in a container. */
  readonly atStart?: boolean;
  readonly now?: number;
}

/** What is younger may be written by another machine or container, whose processes can't be seen from here. */
const MIN_AGE_MS = 24 * 3_600_000;

/** Deletes those of processes that are gone. What can't be deleted now is left for the next time. */
export async function sweepLeftovers(
  folder: string,
  { name, atStart = false, now = Date.now() }: SweepOptions = {},
): Promise<void> {
  const isGone = (pid: number): boolean => (pid === process.pid ? atStart : !processExists(pid));
  const doomed: string[] = [];
  for (const entry of entriesOf(folder)) {
    const hidden = readHidden(entry);
    if (hidden?.role !== 'tmp' || (name ?? hidden.original) !== hidden.original || !isGone(hidden.pid)) continue;
    const path = join(folder, entry);
    // A name that this process can't give to anything that it writes while these are being deleted.
    const aside = join(folder, `.${hidden.original}.${process.pid}-${now + doomed.length}.tmp`);
    try {
      if (now - statSync(path).mtimeMs < MIN_AGE_MS) continue;
      renameSync(path, aside);
      doomed.push(aside);
    } catch {
      // In use, or gone already.
    }
  }
  for (const path of doomed) await rm(path, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It isn't there, or can't be read: whoever writes into it says so.
    return [];
  }
}
