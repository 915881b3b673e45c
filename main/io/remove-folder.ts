/** Removes folders that lists show: hidden first, so that one killed in the middle leaves nothing that looks whole. */
import { existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hiddenSibling } from './atomic-write.ts';
import { renameSettled, renameSettledAsync } from './rename.ts';

/** Does nothing where there is no such folder. */
export async function removeFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const aside = hiddenSibling(folder, 'tmp');
  await renameSettledAsync(folder, aside);
  await rm(aside, { recursive: true, force: true });
}

/** The same without yielding, for a small folder. */
export function removeFolderSync(folder: string): void {
  const aside = hiddenSibling(folder, 'tmp');
  renameSettled(folder, aside);
  rmSync(aside, { recursive: true });
}
