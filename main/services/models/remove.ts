/** Deleting a model or a checkpoint, after saying what hangs on it. */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inputError } from '../../errors.ts';
import type { RunRow } from '../../store/runs.ts';
import type { App } from '../app.ts';
import { listModels, type ModelEntry, type ModelPlaces } from '../model-list.ts';
import { resolveModelParts } from '../models.ts';
import { fromStoredPath } from '../workspace.ts';
import { forgetImported } from './imported.ts';
import { folderBytes } from './sizes.ts';

export interface Named {
  readonly id: number;
  readonly name: string;
}

/** What goes with a model, and what is worse off without it. */
export interface Dependants {
  readonly entry: ModelEntry;
  /** Freed on the disk; 0 where the files stay. */
  readonly bytes: number;
  /** Why it can't be deleted; null: it can. */
  readonly refusal: string | null;
  /** Runs that were trained from it, or that can't be resumed without it. */
  readonly runs: readonly Named[];
  /** Stages that are to start from it. */
  readonly stages: readonly Named[];
  /** Checkpoints whose adapters lie over it: they can't be used any more. */
  readonly checkpoints: readonly string[];
}

type Host = Pick<App, 'store' | 'live' | 'changes'> & ModelPlaces;

/** Looks up what depends on a model. */
export async function modelDependants(host: Host, ref: string): Promise<Dependants> {
  const entry = requireListed(host, ref);
  const runs = host.store.runs.list().filter((run) => stands(host, run, entry));
  const live = runs.find(({ id }) => host.live.get(id) !== null);
  return {
    entry,
    bytes: entry.kind === 'imported' || entry.deleted ? 0 : await folderBytes(entry.folder),
    refusal: refusalOf(entry, live),
    runs: runs.map(({ id, name }) => ({ id, name })),
    stages: stagesOn(host, entry),
    checkpoints: entry.kind === 'checkpoint' ? [] : checkpointsOver(host, entry),
  };
}

/** Deletes a model; an imported folder is only forgotten. */
export async function removeModel(host: Host, ref: string): Promise<void> {
  const { entry, refusal } = await modelDependants(host, ref);
  if (refusal !== null) throw inputError('MODEL_IN_USE', refusal);
  const { kind, folder, checkpointId } = entry;
  if (kind === 'imported') host.store.transaction(() => forgetImported(host.store, folder));
  else await removeFolder(folder);
  if (checkpointId !== null) host.store.transaction(() => host.store.checkpoints.markDeleted(checkpointId));
  host.changes.publish('models');
  host.changes.publish('runs');
  if (entry.run !== null) host.changes.publish('run', entry.run.id);
}

function requireListed(places: ModelPlaces, ref: string): ModelEntry {
  const entry = listModels(places).find((known) => known.ref === ref);
  if (entry !== undefined) return entry;
  throw inputError('MODEL_UNKNOWN', `Expected a model that the app knows, got "${ref}"`, 'Choose one from the list.');
}

function refusalOf({ kind, deleted, name }: ModelEntry, live: RunRow | undefined): string | null {
  if (kind === 'bundled') return `${name} comes with Braid and stays: without it the demo can't run`;
  if (deleted) return `${name} is deleted already`;
  return live === undefined ? null : `${live.name} trains with it: stop the run first`;
}

/** Whether a run stands on a model: trained from it, or, for a checkpoint, its own or a descendant's start. */
function stands({ store, paths }: Host, run: RunRow, entry: ModelEntry): boolean {
  if (entry.kind === 'checkpoint') {
    const isLast = store.checkpoints.ofRun(run.id).findLast(({ deletedAt }) => deletedAt === null)?.id;
    return run.parentCheckpointId === entry.checkpointId || (run.state !== 'done' && isLast === entry.checkpointId);
  }
  return baseFolder(run.model, paths) === entry.folder;
}

function stagesOn({ store, paths }: Host, entry: ModelEntry): Named[] {
  return store.stages
    .list()
    .filter(({ state, config }) => {
      if (state !== 'planned' && state !== 'queued') return false;
      const { model, from_checkpoint: from } = config;
      if (typeof from === 'string') return fromStoredPath(store.folder, from) === entry.folder;
      return typeof model === 'string' && baseFolder(model, paths) === entry.folder;
    })
    .map(({ id, name }) => ({ id, name }));
}

function checkpointsOver(host: Host, { folder }: ModelEntry): string[] {
  return listModels(host)
    .filter((known) => known.kind === 'checkpoint' && !known.deleted)
    .filter((known) => baseFolder(known.model, host.paths) === folder && known.folder !== folder)
    .map(({ name }) => name);
}

/** The whole model that a model argument leads to; null where it leads nowhere. */
function baseFolder(model: string, paths: ModelPlaces['paths']): string | null {
  try {
    return resolveModelParts(model, paths).base;
  } catch {
    // What can't be resolved depends on nothing that is here.
    return null;
  }
}

/** Out of sight first: half a model is never listed. */
async function removeFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const aside = join(dirname(folder), `.${basename(folder)}.${process.pid}-0.tmp`);
  await rename(folder, aside);
  await rm(aside, { recursive: true, force: true });
}
