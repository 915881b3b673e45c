/** The thread that reads documents: what somebody else's file makes a library do ends after a time, or with its memory. */
import { BraidError, inputError } from '../../errors.ts';
import type { DocumentReader } from '../texts/documents.ts';
import { damaged } from './document-task.ts';
import { openTextWorkers } from './workers.ts';

const MAX_SECONDS = 60;
/** Of the thread's objects, and of all that the process needs beside them while it reads a document. */
const MAX_MIB = 1024;
const CHECK_MS = 200;

export interface DocumentLimits {
  readonly seconds?: number;
  readonly mib?: number;
}

/** `entry`: the file of the text worker. */
export function openDocuments(
  entry: string,
  { seconds = MAX_SECONDS, mib = MAX_MIB }: DocumentLimits = {},
): DocumentReader {
  const workers = openTextWorkers(entry, { maxOldGenerationSizeMb: mib });
  return {
    read: async (name, bytes) => {
      const stop = new AbortController();
      const before = process.memoryUsage.rss();
      let why = `takes more than ${seconds} seconds to read`;
      const timeout = setTimeout(() => stop.abort(), seconds * 1000);
      const watch = setInterval(() => {
        if (process.memoryUsage.rss() - before < mib * 2 ** 20) return;
        why = `takes more than ${mib} MiB of memory to read`;
        stop.abort();
      }, CHECK_MS);
      try {
        return await workers.run('readDocument', { name, bytes }, { signal: stop.signal });
      } catch (error) {
        if (stop.signal.aborted) throw inputError('BAD_DOCUMENT', `${why}; save it as .txt`);
        const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
        if (code === 'ERR_WORKER_OUT_OF_MEMORY')
          throw inputError('BAD_DOCUMENT', `takes more than ${mib} MiB of memory to read; save it as .txt`);
        throw error instanceof BraidError && error.code === 'TEXT_WORK_DIED' ? damaged(error) : error;
      } finally {
        clearTimeout(timeout);
        clearInterval(watch);
      }
    },
    close: workers.close,
  };
}
