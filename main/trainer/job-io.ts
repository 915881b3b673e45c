import type { OpenBackend } from './backend.ts';

/** What a side job may use of its process. */
export interface JobIo {
  readonly backend: Pick<OpenBackend, 'name' | 'threads'>;
  /** Tells how far the job is and lets the message leave: tensor work is synchronous and would hold it back. */
  progress(done: number, total: number, unit: string): Promise<void>;
  /** Tells the text so far, at once. */
  text(text: string, tokens: number): void;
}
