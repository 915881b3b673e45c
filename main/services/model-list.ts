/**
 * Everything that can be evaluated, trained from or played with: bundled models, those of the workspace, imported
 * folders, checkpoints of runs. Each has a reference, a string that means it for as long as it is there:
 * `bundled:tiny`, `workspace:smollm`, `folder:/models/smollm`, `checkpoint:12`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import type { CheckpointKind } from '../store/checkpoints.ts';
import { checkModelFolder, parameterTotal } from '../trainer/model-folder.ts';
import type { App } from './app.ts';
import { importedModels } from './models/imported.ts';
import { fromStoredPath } from './workspace.ts';

export type ModelKind = 'bundled' | 'workspace' | 'imported' | 'checkpoint';

export interface ModelEntry {
  /** What a page names it by; `requireModel` gives the entry back. */
  readonly ref: string;
  readonly kind: ModelKind;
  /** For a person: `tiny`, `run-0007-10words-grpo · step 200`. */
  readonly name: string;
  /** What a configuration's `model` or `from_checkpoint` takes: the name of a bundled model, else the folder. */
  readonly model: string;
  readonly folder: string;
  /** Of a checkpoint: the run that made it. */
  readonly run: { readonly id: number; readonly name: string } | null;
  readonly checkpointId: number | null;
  readonly step: number | null;
  readonly checkpointKind: CheckpointKind | null;
  readonly createdAt: number | null;
  /** `llama`; null for a checkpoint and for what can't be read. */
  readonly architecture: string | null;
  readonly parameters: number | null;
  /** Its folder is gone; it is listed because runs and comparisons speak of it. */
  readonly deleted: boolean;
  /** Why it can't be used; null: it can. */
  readonly problem: string | null;
}

/** What of the app the list is made from. */
export interface ModelPlaces {
  readonly store: App['store'];
  readonly workspace: Pick<App['workspace'], 'models'>;
  readonly paths: Pick<App['paths'], 'resources'>;
}

/** Whole models first, then checkpoints, the newest run's last one in front. */
export function listModels({ store, workspace, paths }: ModelPlaces): ModelEntry[] {
  const bundled = foldersIn(join(paths.resources, 'models')).map((folder) => bundledEntry(folder));
  const own = foldersIn(workspace.models).map((folder) => wholeEntry('workspace', basename(folder), folder, null));
  const imported = importedModels(store).map(({ folder, addedAt }) => wholeEntry('imported', folder, folder, addedAt));
  return [...bundled, ...own, ...imported, ...checkpointEntries(store)];
}

/** The model that a reference means, usable; else an error that says what became of it. */
export function requireModel(place: ModelPlaces, ref: string): ModelEntry {
  const entry = listModels(place).find((known) => known.ref === ref);
  if (entry === undefined)
    throw inputError(
      'MODEL_UNKNOWN',
      `Expected a model that the app knows, got "${ref}"`,
      'Choose one from the list; the Models screen imports others.',
    );
  if (entry.problem !== null)
    throw inputError(entry.deleted ? 'CHECKPOINT_MISSING' : 'MODEL_UNUSABLE', entry.problem, 'Choose another model.');
  return entry;
}

function bundledEntry(folder: string): ModelEntry {
  const name = basename(folder);
  return { ...wholeEntry('bundled', name, folder, null), model: name };
}

function wholeEntry(
  kind: Exclude<ModelKind, 'checkpoint'>,
  key: string,
  folder: string,
  createdAt: number | null,
): ModelEntry {
  return {
    ...{ ref: `${kind === 'imported' ? 'folder' : kind}:${key}`, kind, name: basename(folder), model: folder, folder },
    ...{ run: null, checkpointId: null, step: null, checkpointKind: null, createdAt, deleted: false },
    ...read(folder),
  };
}

function read(folder: string): Pick<ModelEntry, 'architecture' | 'parameters' | 'problem'> {
  try {
    const config = checkModelFolder(folder);
    return { architecture: config.modelType, parameters: parameterTotal(config), problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problem = error instanceof BraidError ? why : `${folder}: can't be read (${why})`;
    return { architecture: null, parameters: null, problem };
  }
}

function checkpointEntries(store: App['store']): ModelEntry[] {
  return store.checkpoints.all().map(({ id, runId, runName, step, path, kind, createdAt }) => {
    const folder = fromStoredPath(store.folder, path);
    const deleted = !existsSync(folder);
    const name = `${runName} · step ${step}`;
    return {
      ...{ ref: `checkpoint:${id}`, kind: 'checkpoint', name, model: folder, folder },
      ...{ run: { id: runId, name: runName }, checkpointId: id, step, checkpointKind: kind, createdAt, deleted },
      ...{ architecture: null, parameters: null },
      problem: deleted ? `${folder}: expected the checkpoint of step ${step} of ${runName}, it was deleted` : null,
    };
  });
}

/** Folders of a folder by name; hidden ones are half-made. */
function foldersIn(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => join(parent, name))
    .sort();
}
