/** The workspace: its disk, folder and database. Nothing is created or changed. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { diskSpace } from '../../io/disk-space.ts';
import { copiesOf } from '../../store/copy-before.ts';
import { inspectDatabase } from '../../store/inspect.ts';
import { openDatabase } from '../../store/open.ts';
import { counted, formatBytes } from '../../text/format.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type Check, fail, guarded, ok, warn } from './check.ts';

const ELSEWHERE = 'Choose another workspace with --workspace or BRAID_WORKSPACE.';
const GIB = 2 ** 30;

export function checkWorkspace(workspace: Pick<Workspace, 'root' | 'database'>): Check[] {
  return [
    guarded('Workspace', ELSEWHERE, () => checkFolder(workspace.root)),
    guarded('Disk', ELSEWHERE, () => checkDisk(workspace.root)),
    guarded('Database', ELSEWHERE, () => checkDatabase(workspace.database)),
  ];
}

function checkFolder(root: string): Check {
  const place = nearest(root);
  try {
    accessSync(place, constants.W_OK);
  } catch {
    return fail('Workspace', `${root}: this user can't write to ${place}`, ELSEWHERE);
  }
  return ok('Workspace', place === root ? root : `${root}, created when first needed`);
}

function checkDisk(root: string): Check {
  const free = diskSpace(nearest(root)).freeBytes;
  const detail = `${formatBytes(free)} free`;
  if (free >= 2 * GIB) return ok('Disk', detail);
  if (free >= GIB / 4) return warn('Disk', detail, 'Free some space: checkpoints of larger models take gigabytes.');
  return fail('Disk', `${detail}; expected at least 256 MiB`, 'Free some space, or use a workspace on another disk.');
}

function checkDatabase(file: string): Check {
  if (!existsSync(file)) {
    openDatabase(':memory:').close();
    return ok('Database', 'none yet; SQLite works');
  }
  const { version, newest, runs } = inspectDatabase(file);
  const detail = `${file}, version ${version}, ${counted(runs, 'run')}${copiesInWords(file)}`;
  if (version === newest) return ok('Database', detail);
  if (version < newest) return ok('Database', `${detail}, upgraded to ${newest} when next opened`);
  return fail('Database', `${detail}; written by a newer Braid`, 'Update Braid, or choose another workspace.');
}

/** Nothing removes them by itself. */
function copiesInWords(file: string): string {
  const copies = copiesOf(file);
  if (copies.length === 0) return '';
  const bytes = copies.reduce((sum, copy) => sum + statSync(copy).size, 0);
  const names = copies.map((copy) => basename(copy)).join(', ');
  return `; from before updates, and may be deleted: ${names}, ${formatBytes(bytes)}`;
}

/** The folder, or its closest existing parent. */
function nearest(folder: string): string {
  let place = folder;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}
