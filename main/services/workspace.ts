/** The workspace: the folder that holds the database, the datasets, the models and what the runs put out. */
import * as fs from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import envPaths from 'env-paths';
import { inputError } from '../errors.ts';
import { type FileOps, writeError, writeFileAtomic } from '../files.ts';

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

/** Where the workspace is: `--workspace`, else BRAID_WORKSPACE, else the user's data folder. Makes nothing. */
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

/** Locates the workspace, makes its folders, and checks that it can be written before anything depends on it. */
export function openWorkspace(options: WorkspaceOptions = {}): Workspace {
  const ops = options.ops ?? fs;
  const workspace = locateWorkspace(options);
  try {
    for (const folder of [workspace.root, workspace.datasets, workspace.models, workspace.outputs]) {
      ops.mkdirSync(folder, { recursive: true });
    }
    probe(workspace.root, ops);
  } catch (error) {
    throw readable(error, workspace.root);
  }
  return workspace;
}

/** A folder can exist and still refuse files: a read-only disk, a full one, another user's folder. */
function probe(root: string, ops: FileOps): void {
  const file = join(root, `.write-test-${process.pid}`);
  writeFileAtomic(file, 'Braid checks that this folder can be written.\n', { what: 'a test file', ops });
  ops.rmSync(file, { force: true });
}

function readable(error: unknown, root: string): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
    return inputError(
      'BAD_WORKSPACE',
      `Expected a folder for the workspace at ${root}, got a file`,
      'Choose another folder with --workspace or BRAID_WORKSPACE.',
    );
  }
  return writeError(error, root, 'the workspace');
}

/** The name of a run's folder: `run-0007-10words-grpo`. */
export function runFolderName(runId: number, dataset: string, method: string): string {
  return ['run', String(runId).padStart(4, '0'), slug(dataset), slug(method)].filter((part) => part !== '').join('-');
}

/** The last part of a path without its ending, in letters, digits, dashes and dots that every system takes. */
function slug(text: string): string {
  const name = text.split(/[\\/]/).at(-1) ?? '';
  return name
    .replace(/\.(test\.)?jsonl$/i, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}

/** How a path is stored: relative to the workspace where it lies inside, so that the workspace can be moved. */
export function toStoredPath(root: string, path: string): string {
  const inside = relative(root, resolve(root, path));
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return resolve(root, path);
  return inside.split(sep).join('/');
}

/** The absolute path behind a stored one. */
export function fromStoredPath(root: string, stored: string): string {
  return resolve(root, stored);
}
