/** What the trainer's thread and the thread of components outside the sandbox say to each other. */
import type { ReplyLine } from '../sync-thread.ts';
import type { Answer } from '../task.ts';
import type { CommandFiles, ExternalAccess } from './access.ts';
import type { ExternalSpec } from './spec.ts';

export interface ExternalProgram {
  readonly components: Readonly<Record<string, ExternalSpec>>;
  readonly files: CommandFiles;
  readonly access: ExternalAccess;
  /** Whether records have `messages` of their own; otherwise these are made of their fields, and none of the record. */
  readonly ownMessages: boolean;
}

export interface ExternalWorkerData extends ReplyLine {
  readonly program: ExternalProgram;
}

export type ExternalRequest =
  | { readonly kind: 'score'; readonly answers: readonly Answer[] }
  | { readonly kind: 'close' };

/** A completion's number, or why there is none. */
export type Outcome = number | string;

/** What a component's batch took. */
export interface ComponentUse {
  readonly seconds: number;
  /** In the currency of the settings; null: no price is known. */
  readonly cost: number | null;
  /** Answers that were kept from before; null: nothing is kept of such a component. */
  readonly cached: number | null;
}

export interface ComponentScores extends ComponentUse {
  /** In the order of the completions. */
  readonly outcomes: readonly Outcome[];
}

export type ExternalReply =
  | { readonly kind: 'alive' }
  | { readonly kind: 'ready' }
  /** A component can't be computed at all. */
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly remedy: string | null }
  | { readonly kind: 'scored'; readonly components: Readonly<Record<string, ComponentScores>> }
  | { readonly kind: 'closed' };
