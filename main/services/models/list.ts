/**
 * Everything that can be evaluated, trained from or played with: bundled models, those of the workspace, imported
 * folders, checkpoints of runs. Each has a reference, a string that identifies it while it exists:
 * `bundled:tiny`, `workspace:smollm`, `folder:/models/smollm`, `checkpoint:12`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { type CheckpointKind, checkpointReference } from '../../store/checkpoints.ts';
import { weightCount } from '../../trainer/memory/budget.ts';
import { checkModelFolder, missingFile } from '../../trainer/memory/model-folder.ts';
import { evaluationDataset } from '../runs/evaluation.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { importedModels } from './imported-folders.ts';
import { resolveModelParts } from './resolve.ts';

export type ModelKind = 'bundled' | 'workspace' | 'imported' | 'checkpoint';

export interface ModelEntry {
  /** Its reference for pages; `requireModel` returns the entry. */
  readonly ref: string;
  readonly kind: ModelKind;
  /** For display: `tiny`, `run-0007-10words-grpo · step 200`. */
  readonly name: string;
  /** For a configuration's `model` or `from_checkpoint`: the name of a bundled model, otherwise the folder. */
  readonly model: string;
  readonly folder: string;
  /** Of a checkpoint: the run that made it. */
  readonly run: { readonly id: number; readonly name: string } | null;
  readonly checkpointId: number | null;
  readonly step: number | null;
  readonly checkpointKind: CheckpointKind | null;
  readonly createdAt: number | null;
  /** Of a checkpoint: its held-out score on the run's own dataset; null: not evaluated. */
  readonly heldOut: number | null;
  /** `llama`; null for a checkpoint or an unreadable model. */
  readonly architecture: string | null;
  readonly parameters: number | null;
  /** Its folder is gone; it is listed because runs and comparisons refer to it. */
  readonly deleted: boolean;
  /** Of a checkpoint that is there, but not of its run as it is now: that was resumed from an earlier one. */
  readonly abandoned: boolean;
  /** Why it can't be used; null: it can. */
  readonly problem: string | null;
}

/** The parts of the app that the list needs. */
export interface ModelPlaces {
  readonly store: OpenWorkspace['store'];
  readonly workspace: Pick<OpenWorkspace['workspace'], 'models'>;
  readonly paths: Pick<OpenWorkspace['paths'], 'resources' | 'models'>;
}

/** Full models first, then checkpoints, starting with the last one of the newest run. */
export function listModels({ store, workspace, paths }: ModelPlaces): ModelEntry[] {
  const bundled = foldersIn(join(paths.resources, 'models')).map((folder) => bundledEntry(folder));
  const own = foldersIn(workspace.models).map((folder) => wholeEntry('workspace', basename(folder), folder, null));
  const imported = importedModels(store).map(({ folder, addedAt }) => wholeEntry('imported', folder, folder, addedAt));
  return [...bundled, ...own, ...imported, ...checkpointEntries(store, paths)];
}

/** The usable model for a reference; otherwise an error that says why. */
export function requireModel(place: ModelPlaces, ref: string): ModelEntry {
  const entry = listModels(place).find((known) => known.ref === ref);
  if (entry === undefined)
    throw inputError(
      'MODEL_UNKNOWN',
      `There is no model "${ref}"`,
      'Choose one from the list; you can import others on the Models screen.',
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
    ref: `${kind === 'imported' ? 'folder' : kind}:${key}`,
    kind,
    name: shownName(folder),
    model: folder,
    folder,
    run: null,
    checkpointId: null,
    step: null,
    checkpointKind: null,
    createdAt,
    deleted: false,
    abandoned: false,
    heldOut: null,
    ...read(folder),
  };
}

/** In the Hub's cache a model's folder is called after a commit. */
function shownName(folder: string): string {
  const [, name] = /[\\/]models--(?:.*--)?([^\\/]+)[\\/]snapshots[\\/][^\\/]+$/.exec(folder) ?? [];
  return name ?? basename(folder);
}

function read(folder: string): Pick<ModelEntry, 'architecture' | 'parameters' | 'problem'> {
  try {
    const config = checkModelFolder(folder);
    return { architecture: config.modelType, parameters: weightCount(config), problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problem = error instanceof BraidError ? why : `${folder}: can't be read (${why})`;
    return { architecture: null, parameters: null, problem };
  }
}

function checkpointEntries(store: OpenWorkspace['store'], paths: ModelPlaces['paths']): ModelEntry[] {
  // The adapters of one run share their base.
  const missingBases = new Map<number, string | null>();
  const scores = new Map<number, ReadonlyMap<number, number>>();
  return store.checkpoints.all().map(({ id, runId, runName, step, path, kind, createdAt, deletedAt }) => {
    const folder = fromStoredPath(store.folder, path);
    const deleted = !existsSync(folder);
    const abandoned = !deleted && deletedAt !== null;
    const name = `${runName} · step ${step}`;
    if (!deleted && !missingBases.has(runId)) missingBases.set(runId, missingBase(folder, paths));
    if (!scores.has(runId)) scores.set(runId, heldOutScores(store, runId));
    return {
      // What the run scored at that step now is another checkpoint's.
      heldOut: abandoned ? null : (scores.get(runId)?.get(step) ?? null),
      ref: checkpointReference(id),
      kind: 'checkpoint',
      name,
      model: folder,
      folder,
      run: { id: runId, name: runName },
      checkpointId: id,
      step,
      checkpointKind: kind,
      createdAt,
      deleted,
      abandoned,
      architecture: null,
      parameters: null,
      problem: deleted
        ? `${folder}: the checkpoint of step ${step} of ${runName} was deleted`
        : (partlyRemoved(folder) ?? missingBases.get(runId) ?? null),
    };
  });
}

/** What is left of a checkpoint can't be used as one. */
function partlyRemoved(folder: string): string | null {
  try {
    const missing = missingFile(folder);
    return missing === null ? null : `${folder} is no longer whole: ${missing} is missing`;
  } catch (error) {
    return `${folder}: can't be read (${error instanceof Error ? error.message : String(error)})`;
  }
}

/** A run's held-out score at each evaluated step. */
function heldOutScores(store: OpenWorkspace['store'], runId: number): ReadonlyMap<number, number> {
  const run = store.runs.get(runId);
  return new Map(run === undefined ? [] : store.evaluations.scores(runId, evaluationDataset(run)));
}

/** Why an adapter can't be used without its base model; null for a full model, and where the base is there. */
function missingBase(folder: string, paths: ModelPlaces['paths']): string | null {
  if (!existsSync(join(folder, 'adapter_config.json'))) return null;
  try {
    resolveModelParts(folder, paths);
    return null;
  } catch (error) {
    if (error instanceof BraidError) return error.message;
    throw error;
  }
}

/** Subfolders by name; hidden ones are incomplete. */
function foldersIn(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => join(parent, name))
    .sort();
}
