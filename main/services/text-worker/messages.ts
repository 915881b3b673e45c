/** Messages between the host and the text worker thread. */
import type { DocumentReader } from '../texts/documents.ts';
import type { JobProgress } from '../trainer-process/job.ts';

/** One task for the thread, which handles one at a time. */
export interface TaskMessage {
  readonly name: string;
  readonly input: unknown;
  /** One shared word: not 0 once the task is cancelled. */
  readonly cancel: Int32Array;
}

export interface TaskFailure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
  readonly input: boolean;
}

export type TaskReply =
  /** Its code is loaded. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly progress: JobProgress }
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly failure: TaskFailure };

/** A task's context besides its input. */
export interface TaskContext {
  /** Opens a thread for documents; the caller closes it. */
  openDocuments(): DocumentReader;
  progress(progress: JobProgress): void;
  /** Checked between files by tasks that write, so that they end cleanly. Others are terminated from outside. */
  cancelled(): boolean;
}
