/** The stored state of the reply system: data, split, small-scale test, report. */
import { join } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { ReplySplit } from '../datasets/reply-split/split.ts';
import type { TrialResult } from '../recipes/trial.ts';
import { REPLIES } from '../runs/forget-references.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { toStoredPath, type Workspace } from '../workspace/workspace.ts';

/** The split in the phases' files. */
export interface SplitRecord extends Pick<ReplySplit, 'borders' | 'before' | 'after' | 'checks'> {
  readonly ratio: number;
  readonly seed: number;
  readonly at: number;
}

export interface ReplyState {
  /** Imported records, as stored paths; null: the bundled sample. */
  readonly data: ImportedReplies | null;
  readonly split: SplitRecord | null;
  readonly trial: (TrialResult & { readonly at: number }) | null;
  /** The newest report's folder, as a stored path. */
  readonly report: { readonly folder: string; readonly at: number } | null;
  /** One report a seed, of the newest comparison over seeds. */
  readonly seedReports: { readonly reports: readonly SeedReport[]; readonly at: number } | null;
  /** Reference of the model to train; null: the presets'. */
  readonly model: string | null;
  /** Reference of the checkpoint that GRPO starts from; null: the newest baseline. */
  readonly start: string | null;
  /** Checklist items that the user has confirmed, and when. */
  readonly ticks: Readonly<Record<string, number>>;
}

export interface ImportedReplies {
  readonly name: string;
  readonly train: string;
  readonly test: string;
  readonly records: number;
  readonly heldOut: number;
}

/** The report of one seed: its folder, as a stored path. */
export interface SeedReport {
  readonly seed: number;
  readonly folder: string;
}

/** Where the split and report of a seed go unless another folder is given. */
export function replyFolder({ outputs }: Pick<Workspace, 'outputs'>, seed: number): string {
  return join(outputs, `replies-seed${seed}`);
}

/** Where a seed's report of a comparison over seeds goes: later reports of single comparisons must not replace it. */
export function overSeedsFolder({ outputs }: Pick<Workspace, 'outputs'>, seed: number): string {
  return join(outputs, 'replies-over-seeds', `seed${seed}`);
}

/** A report that is finished now, in this folder. */
export function reportIn(
  { store, workspace }: Pick<OpenWorkspace, 'store' | 'workspace'>,
  folder: string,
): NonNullable<ReplyState['report']> {
  return { folder: toStoredPath(workspace.root, folder), at: store.now() };
}

const NOTHING: ReplyState = {
  data: null,
  split: null,
  trial: null,
  report: null,
  seedReports: null,
  model: null,
  start: null,
  ticks: {},
};

export function readReplyState(store: Pick<Store, 'settings'>): ReplyState {
  return { ...NOTHING, ...(store.settings.get(REPLIES) as Partial<ReplyState> | undefined) };
}

/** Updates some of it; the rest is unchanged. */
export function remember(store: Pick<Store, 'settings'>, change: Partial<ReplyState>): void {
  store.settings.set(REPLIES, { ...readReplyState(store), ...change });
}
