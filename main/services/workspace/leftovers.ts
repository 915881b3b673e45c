/**
 * Hidden folders and files in which something was being written or deleted when its process was killed:
 * `.smollm.4711-2.tmp`, as `hiddenSibling` names them. No list shows them, but they may take gigabytes.
 */
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { processExists } from './host.ts';

interface SweepOptions {
  /** Only those of this file or folder. */
  readonly name?: string;
  /** Called before this process has made any: those with its id are of an earlier process, as often in a container. */
  readonly atStart?: boolean;
}

/** Deletes those of processes that are gone. What can't be deleted now is left for the next time. */
export async function sweepLeftovers(folder: string, { name, atStart = false }: SweepOptions = {}): Promise<void> {
  const isGone = (pid: number): boolean => (pid === process.pid ? atStart : !processExists(pid));
  // Listed at once: what this process makes while others are being deleted isn't among them.
  const leftovers = entriesOf(folder).filter((entry) => {
    const [, original, pid] = /^\.(.+)\.(\d+)-\d+\.tmp$/.exec(entry) ?? [];
    return original !== undefined && (name ?? original) === original && isGone(Number(pid));
  });
  for (const entry of leftovers)
    await rm(join(folder, entry), { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // It isn't there, or can't be read: whoever writes into it says so.
    return [];
  }
}
