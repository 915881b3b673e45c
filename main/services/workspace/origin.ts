/**
 * Whether a workspace was opened here before. Opening one that came from someone else, an archive or a shared folder,
 * must not start anything by itself, its queue of stages above all. The mark is made with a key that lies in the
 * user's own configuration, so that no workspace can bring it along.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import envPaths from 'env-paths';
import { makeFolder } from '../../io/make-folder.ts';
import type { Store } from '../../store/index.ts';

const MARK = 'opened_here';

/** The key's file: `~/.config/braid/workspace-key` on Linux. */
function workspaceKeyFile(): string {
  return join(envPaths('braid', { suffix: '' }).config, 'workspace-key');
}

/** Says whether it was opened here before, by this user in this place, and notes that it is now. */
export function noteOpened(store: Pick<Store, 'settings' | 'folder'>, keyFile = workspaceKeyFile()): boolean {
  const key = readKey(keyFile);
  if (key === null) return false;
  const mark = createHmac('sha256', key).update(realpathSync(store.folder)).digest('hex');
  const known = store.settings.get(MARK) === mark;
  if (!known) store.settings.set(MARK, mark);
  return known;
}

/** Made at the first need; null where the user's configuration can't be written, and every workspace is a new one. */
function readKey(file: string): Buffer | null {
  try {
    makeFolder(dirname(file), { mode: 0o700 });
    writeFileSync(file, randomBytes(32), { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or can't be made: reading it tells which.
  }
  try {
    const key = readFileSync(file);
    return key.length === 32 ? key : null;
  } catch {
    return null;
  }
}
