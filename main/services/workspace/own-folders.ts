/**
 * What Braid may write to and delete. A path in the database is no proof that something is ours: the workspace may
 * have come from someone else, with `../thesis` as the folder of a run. What was made here has its own place and name.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { inputError } from '../../errors.ts';
import { errorCode } from '../../io/atomic-write.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';

type Place = Pick<Store, 'folder'>;

/**
 * The absolute folder of a run where it is one that `createRun` makes, `outputs/run-0007…`; null elsewhere, and where
 * a link lies in its place. The name counts too: `outputs` itself may be a link, to a larger disk or to a home folder.
 */
export function ownRunFolder({ folder: root }: Place, stored: string): string | null {
  const [top, name, ...rest] = partsBelow(root, stored);
  if (top !== 'outputs' || name === undefined || rest.length > 0 || !/^run-\d{4,}(-|$)/.test(name)) return null;
  const folder = resolve(root, stored);
  return isLink(folder) ? null : folder;
}

/** The absolute folder of a checkpoint where it is `outputs/<run>/checkpoint-<step>`; null elsewhere. */
export function ownCheckpointFolder({ folder: root }: Place, stored: string): string | null {
  const [top, run, name, ...rest] = partsBelow(root, stored);
  if (top !== 'outputs' || run === undefined || name === undefined || rest.length > 0) return null;
  if (!/^checkpoint-\d+$/.test(name) || isLink(resolve(root, 'outputs', run))) return null;
  return resolve(root, stored);
}

/** Whether a file really lies in the workspace, links followed. */
export function liesInWorkspace({ folder: root }: Place, file: string): boolean {
  try {
    return partsBelow(realpathSync(root), realpathSync(resolve(root, file))).length > 0;
  } catch {
    // It is not there.
    return false;
  }
}

/** The folder that a run is resumed in, or an error where it isn't one of this workspace's. */
export function requireRunFolder(store: Place, run: Pick<RunRow, 'id' | 'folder'>): string {
  const folder = ownRunFolder(store, run.folder);
  if (folder !== null) return folder;
  throw inputError(
    'RUN_FOLDER_OUTSIDE',
    `Expected the folder of run ${run.id} to be outputs/run-… in ${store.folder}, got "${run.folder}"`,
    'Braid writes nothing there. Start a new run with the same settings.',
  );
}

/** The names on the way from `root` to a path in it; none for the root itself and for what lies outside. */
function partsBelow(root: string, path: string): readonly string[] {
  const inside = relative(root, resolve(root, path));
  const parts = inside.split(sep);
  return inside === '' || parts[0] === '..' || resolve(inside) === inside ? [] : parts;
}

/** Whether a link lies there: in someone else's workspace it may lead anywhere. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    // A file in place of one of its folders: who reads or writes there says so.
    if (errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}
