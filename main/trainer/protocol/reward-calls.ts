/** What a host and its reward process say to each other. */
import type { ExternalAccess } from '../../tasks/external/access.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import type { NamedGroup } from '../../tasks/groups.ts';
import type { Score } from '../../tasks/task.ts';
import type { Failure } from './failure.ts';

/** Completions to score. A later call of the same lane replaces it: who has typed on doesn't want the old answer. */
export interface RewardCall {
  readonly kind: 'score';
  readonly id: number;
  readonly lane: string;
  readonly source: FolderSource;
  /** None: the reward is only loaded, which finds what is wrong with it. */
  readonly answers: readonly NamedGroup[];
  /** When the call ends with what it has. */
  readonly budgetMs: number;
  /** The entry of the sandbox's thread. */
  readonly rewardWorker: string;
  /** What components outside the sandbox need; null: none is computed. */
  readonly access: ExternalAccess | null;
}

export interface ScoredAnswers {
  /** Of the first completions, in order; fewer than were asked for where time ran out. */
  readonly scores: readonly Score[];
  /** The check of each; null: the task has none. */
  readonly checks: readonly number[] | null;
  /** What the rewards took, without the thread's start. */
  readonly ms: number;
}

export type RewardAnswer =
  | ({ readonly kind: 'scored'; readonly id: number } & ScoredAnswers)
  | { readonly kind: 'replaced'; readonly id: number }
  | ({ readonly kind: 'failed'; readonly id: number } & Failure);
