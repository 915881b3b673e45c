/** The workspace: the folder with the database, the datasets, the models and the runs' outputs. */

import * as fs from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import envPaths from 'env-paths';
import { BraidError, inputError } from '../../errors.ts';
import { type FileOps, writeError, writeFileAtomic } from '../../io/atomic-write.ts';
import { makeFolder } from '../../io/make-folder.ts';
import { openStore } from '../../store/index.ts';
import { runFolders } from '../../store/open.ts';
import { beginning } from '../../text/beginning.ts';

export interface WorkspaceOptions {
  /** As given on the command line. */
  readonly workspace?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly ops?: FileOps;
}

export interface Workspace {
  readonly root: string;
  readonly database: string;
  readonly datasets: string;
  readonly models: string;
  readonly outputs: string;
}

/** The workspace's path: `--workspace`, then BRAID_WORKSPACE, then the user's data folder. Creates nothing. */
export function locateWorkspace(options: WorkspaceOptions = {}): Workspace {
  const env = options.env ?? process.env;
  if (options.workspace?.trim() === '') {
    throw inputError('BAD_WORKSPACE', 'Expected a folder after --workspace, got an empty name');
  }
  const chosen = options.workspace ?? (env.BRAID_WORKSPACE?.trim() || envPaths('braid', { suffix: '' }).data);
  const root = resolve(chosen);
  return {
    root,
    database: join(root, 'braid.db'),
    datasets: join(root, 'datasets'),
    models: join(root, 'models'),
    outputs: join(root, 'outputs'),
  };
}

/** Locates the workspace, creates its folders, and checks that it is writable. */
export function openWorkspace(options: WorkspaceOptions = {}): Workspace {
  const ops = options.ops ?? fs;
  const workspace = locateWorkspace(options);
  try {
    for (const folder of [workspace.root, workspace.datasets, workspace.models, workspace.outputs]) {
      // Texts, prompts and completions are nobody else's to read; a folder that is there keeps its mode.
      makeFolder(folder, { mode: 0o700, ops });
    }
    probe(workspace.root, ops);
  } catch (error) {
    throw readable(error, workspace.root);
  }
  return workspace;
}

/** The same with its history, for what only adds files: other commands find a workspace, whose history is empty. */
export function makeWorkspace(options: WorkspaceOptions = {}): Workspace {
  const workspace = openWorkspace(options);
  // Where one was lost, the app says so before it makes another.
  if (!fs.existsSync(workspace.database) && lostHistory(workspace) === null) openStore(workspace.database).close();
  return workspace;
}

/**
 * What to report before the database is created again: run folders without the database that listed them are on the
 * disk but in no list. Null if nothing was lost.
 */
export function lostHistory({ root, database, outputs }: Workspace): { message: string; remedy: string } | null {
  const count = fs.existsSync(database) ? 0 : runFolders(root);
  if (count === 0) return null;
  const runs = count === 1 ? 'a run' : `${count} runs`;
  return {
    message: `This workspace had no database, so its history starts empty; ${outputs} contains ${runs} of an earlier history`,
    remedy: `If ${database} was lost, close Braid and restore it from a backup.`,
  };
}

/** An existing folder may still not be writable: a read-only or full disk, another user's folder. */
function probe(root: string, ops: FileOps): void {
  const file = join(root, `.write-test-${process.pid}`);
  writeFileAtomic(file, 'Braid checks that this folder can be written.\n', { what: 'a test file', ops });
  ops.rmSync(file, { force: true });
}

function readable(error: unknown, root: string): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
    return inputError(
      'BAD_WORKSPACE',
      `The workspace ${root} is a file, not a folder`,
      'Choose another folder with --workspace or BRAID_WORKSPACE.',
    );
  }
  const found = error instanceof BraidError ? error : writeError(error, root, 'the workspace');
  if (!(found instanceof BraidError) || found.code === 'DISK_FULL') return found;
  // A place that can't be a workspace is what was given, not a fault.
  const { code, message, remedy } = found;
  return new BraidError(code, message, { kind: 'input', cause: found, ...(remedy !== undefined && { remedy }) });
}

/** The name of a run's folder: `run-0007-10words-grpo`. */
export function runFolderName(runId: number, dataset: string, method: string): string {
  return ['run', String(runId).padStart(4, '0'), slug(dataset), slug(method)].filter((part) => part !== '').join('-');
}

/** The last part of a path without extension, in letters, digits, dashes and dots, valid on every system. */
function slug(text: string): string {
  const name = text.split(/[\\/]/).at(-1) ?? '';
  const plain = name
    .replace(/\.(test\.)?jsonl$/i, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-');
  return beginning(plain.replace(/^-+|-+$/g, ''), 40);
}

/** The stored form of a path: relative to the workspace if inside, so that the workspace can be moved. */
export function toStoredPath(root: string, path: string): string {
  const inside = relative(root, resolve(root, path));
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return resolve(root, path);
  return inside.split(sep).join('/');
}

/** The absolute path for a stored one. */
export function fromStoredPath(root: string, stored: string): string {
  return resolve(root, stored);
}
