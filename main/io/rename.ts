/**
 * Renames that outlast a virus scanner. On Windows, scanners and indexers open what was just written; until they close
 * it, a moment later, neither the file nor a folder above it can be renamed.
 */
import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause } from './pause.ts';

/** How long to wait before each further try: 1.3 s in all, as the same codes also stand for a refusal that stays. */
const WAITS_MS = [10, 20, 40, 80, 160, 320, 640] as const;
const PASSING: readonly unknown[] = ['EPERM', 'EBUSY', 'EACCES'];

/** Tests pass others. */
interface Place<R> {
  readonly rename?: R;
  readonly platform?: NodeJS.Platform;
}

type Rename = (from: string, to: string) => void;
type RenameAsync = (from: string, to: string) => Promise<void>;

/** Renames; on Windows it tries again for a moment while something has the files open. Throws the last error. */
export function renameSettled(from: string, to: string, place: Place<Rename> = {}): void {
  const { rename = fs.renameSync, platform = process.platform } = place;
  for (const wait of WAITS_MS) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      if (!mayPass(error, platform)) throw error;
      pause(wait);
    }
  }
  rename(from, to);
}

/** The same without blocking. */
export async function renameSettledAsync(from: string, to: string, place: Place<RenameAsync> = {}): Promise<void> {
  const { rename = fs.promises.rename, platform = process.platform } = place;
  for (const wait of WAITS_MS) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      if (!mayPass(error, platform)) throw error;
      await sleep(wait);
    }
  }
  await rename(from, to);
}

function mayPass(error: unknown, platform: NodeJS.Platform): boolean {
  return platform === 'win32' && error instanceof Error && 'code' in error && PASSING.includes(error.code);
}
