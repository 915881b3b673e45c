/** What the trainer's thread and the thread of tools outside the sandbox say to each other. */
import type { ReplyLine } from '../sync-thread.ts';
import type { CommandFiles, ExternalAccess } from './access.ts';
import type { ToolSpec } from './tool-spec.ts';

export interface ToolsProgram {
  /** By the tool's name. */
  readonly tools: Readonly<Record<string, ToolSpec>>;
  readonly files: CommandFiles;
  readonly access: Pick<ExternalAccess, 'keys'>;
}

export interface ToolsWorkerData extends ReplyLine {
  readonly tools: ToolsProgram;
}

export interface ToolCallRequest {
  readonly kind: 'call';
  readonly id: number;
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
}

export type ToolsRequest = ToolCallRequest | { readonly kind: 'close' };

/** What a tool gave; `error`: its own words, which the model reads; `failure`: nobody answered, which isn't the model's doing. */
export type CallResult = { readonly text: string } | { readonly error: string } | { readonly failure: string };

export type ToolsReply =
  | { readonly kind: 'alive' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string; readonly remedy: string | null }
  | { readonly kind: 'called'; readonly id: number; readonly result: CallResult }
  | { readonly kind: 'closed' };
