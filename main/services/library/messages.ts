/** What the host and the thread that works on texts say to each other. */
import type { JobProgress } from '../trainer-job.ts';

/** One task for the thread; it takes them one at a time. */
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
  | { readonly kind: 'progress'; readonly progress: JobProgress }
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly failure: TaskFailure };
