/** Deleting a model or a checkpoint, after showing what depends on it. */
import { inputError } from '../../errors.ts';
import { removeFolder } from '../../io/remove-folder.ts';
import type { RunRow } from '../../store/runs.ts';
import type { StageRow } from '../../store/stages.ts';
import { startFolder } from '../runs/from-checkpoint.ts';
import { isElsewhere } from '../runs/runs.ts';
import { RESUMABLE, type Waiting, waitingFor } from '../runs/waiting.ts';
import { currentHost } from '../workspace/host.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { ownCheckpointFolder } from '../workspace/own-folders.ts';
import { forgetImported } from './imported-folders.ts';
import { listModels, type ModelEntry, type ModelPlaces } from './list.ts';
import { resolveModelParts } from './resolve.ts';
import { folderBytes } from './sizes.ts';

export interface Named {
  readonly id: number;
  readonly name: string;
}

/** What is deleted with a model, and what depends on it. */
export interface Dependants {
  readonly entry: ModelEntry;
  /** Bytes freed on disk; 0 if the files are kept. */
  readonly bytes: number;
  /** Why it can't be deleted; null: it can. */
  readonly refusal: string | null;
  /** Runs that were trained from it, or that can't be resumed without it. */
  readonly runs: readonly Named[];
  /** Stages that would start from it; `chosen`: by their own settings, without which they can't start. */
  readonly stages: readonly (Named & { readonly chosen: boolean })[];
  /** Queued runs, and sweeps, also paused ones, that would start from it, and then can't. */
  readonly waiting: readonly Pick<Waiting, 'kind' | 'name'>[];
  /** Checkpoints whose adapters need it as their base: they become unusable. */
  readonly checkpoints: readonly string[];
}

interface Host extends Pick<OpenWorkspace, 'store' | 'changes'>, ModelPlaces {
  /** Active runs of this process, whose files must not be deleted. */
  readonly live: { get(runId: number): unknown };
  /** What a stage would start from: its own settings, or the checkpoint of the stage before it. */
  readonly startOf: (stage: StageRow) => StageStart;
}

interface StageStart {
  readonly model?: unknown;
  readonly from_checkpoint?: unknown;
}

/** Finds what depends on a model. */
export async function modelDependants(host: Host, ref: string): Promise<Dependants> {
  const entry = requireListed(host, ref);
  const runs = host.store.runs.list().filter((run) => stands(host, run, entry));
  const isLive = (run: RunRow): boolean =>
    host.live.get(run.id) !== null || isElsewhere(run, currentHost(), host.store.now());
  return {
    entry,
    bytes: entry.kind === 'imported' || entry.deleted ? 0 : await folderBytes(entry.folder),
    refusal: refusalOf(host, entry, runs.find(isLive)),
    runs: runs.map(({ id, name }) => ({ id, name })),
    stages: stagesOn(host, entry),
    waiting: waitingFor(host.store, (config) => startsFrom(host, config, entry), RESUMABLE),
    checkpoints: entry.kind === 'checkpoint' ? [] : checkpointsOver(host, entry),
  };
}

/** Deletes a model; an imported folder is only removed from the list. */
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
  throw inputError('MODEL_UNKNOWN', `There is no model "${ref}"`, 'Choose one from the list.');
}

function refusalOf(
  { store }: Host,
  { kind, deleted, name, folder }: ModelEntry,
  live: RunRow | undefined,
): string | null {
  if (kind === 'bundled') return `${name} comes with Braid and stays: without it the demo can't run`;
  if (deleted) return `${name} is deleted already`;
  if (kind === 'checkpoint' && ownCheckpointFolder(store, folder) === null)
    return `${name} lies in ${folder}, which is not a checkpoint folder of this workspace: delete it there`;
  return live === undefined ? null : `${live.name} is training with it: stop the run first`;
}

/** Whether a run depends on a model: trained from it, or, for a checkpoint, its own or a descendant's start. */
function stands({ store, paths }: Host, run: RunRow, entry: ModelEntry): boolean {
  if (entry.kind === 'checkpoint') {
    const isLast = store.checkpoints.ofRun(run.id).findLast(({ deletedAt }) => deletedAt === null)?.id;
    return run.parentCheckpointId === entry.checkpointId || (run.state !== 'done' && isLast === entry.checkpointId);
  }
  return baseFolder(run.model, paths) === entry.folder;
}

function stagesOn(host: Host, entry: ModelEntry): Dependants['stages'] {
  return host.store.stages
    .list()
    .filter(({ state }) => state === 'planned' || state === 'queued')
    .filter((stage) => startsFrom(host, host.startOf(stage), entry))
    .map(({ id, name, config }) => ({ id, name, chosen: 'from_checkpoint' in config || 'model' in config }));
}

function startsFrom({ store, paths }: Host, { model, from_checkpoint: from }: StageStart, entry: ModelEntry): boolean {
  const start = typeof from === 'string' ? startFolder(store, from) : model;
  if (typeof start !== 'string') return false;
  return start === entry.folder || baseFolder(start, paths) === entry.folder;
}

function checkpointsOver(host: Host, { folder }: ModelEntry): string[] {
  return listModels(host)
    .filter((known) => known.kind === 'checkpoint' && !known.deleted)
    .filter((known) => baseFolder(known.model, host.paths) === folder && known.folder !== folder)
    .map(({ name }) => name);
}

/** The full model for a model argument; null if it can't be resolved. */
function baseFolder(model: string, paths: ModelPlaces['paths']): string | null {
  try {
    return resolveModelParts(model, paths).base;
  } catch {
    // What can't be resolved doesn't depend on anything here.
    return null;
  }
}
