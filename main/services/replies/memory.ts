/** What the workspace remembers of the reply system between its steps: data, split, small-scale test, report. */
import type { Store } from '../../store/index.ts';
import type { TrialResult } from '../trial.ts';
import type { ReplySplit } from './split.ts';

/** The split that the phases' files hold. */
export interface SplitRecord extends Pick<ReplySplit, 'borders' | 'before' | 'after' | 'checks'> {
  readonly ratio: number;
  readonly seed: number;
  readonly at: number;
}

export interface ReplyMemory {
  /** Imported records, as stored paths; null: the bundled sample. */
  readonly data: ImportedReplies | null;
  readonly split: SplitRecord | null;
  readonly trial: (TrialResult & { readonly at: number }) | null;
  /** The newest report's folder, as a stored path. */
  readonly report: { readonly folder: string; readonly at: number } | null;
  /** Reference of the model that is trained; null: the presets'. */
  readonly model: string | null;
  /** Reference of the checkpoint that reinforcement starts from; null: the newest baseline. */
  readonly start: string | null;
  /** Points of the checklist that a person has ticked, and when. */
  readonly ticks: Readonly<Record<string, number>>;
}

export interface ImportedReplies {
  readonly name: string;
  readonly train: string;
  readonly test: string;
  readonly records: number;
  readonly heldOut: number;
}

const KEY = 'replies';
const NOTHING: ReplyMemory = {
  ...{ data: null, split: null, trial: null, report: null },
  ...{ model: null, start: null, ticks: {} },
};

export function readMemory(store: Pick<Store, 'settings'>): ReplyMemory {
  return { ...NOTHING, ...(store.settings.get(KEY) as Partial<ReplyMemory> | undefined) };
}

/** Remembers some of it anew, the rest stays. */
export function remember(store: Pick<Store, 'settings'>, change: Partial<ReplyMemory>): void {
  store.settings.set(KEY, { ...readMemory(store), ...change });
}
