/** Atomic downloads. */

import { createWriteStream, rmSync } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { BraidError } from '../../errors.ts';
import { fetchReason } from '../../io/fetch-reason.ts';
import { isInterruption } from './run-tool.ts';

export type OnBytes = (done: number, total: number) => void;

export interface DownloadOptions {
  readonly onBytes?: OnBytes;
  readonly signal?: AbortSignal | undefined;
}

/** Downloads a URL into `file`; an incomplete file is removed. */
export async function download(url: string, file: string, { onBytes, signal }: DownloadOptions = {}): Promise<void> {
  try {
    const response = await fetch(url, { signal: signal ?? null });
    if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
    const total = Number(response.headers.get('content-length') ?? 0);
    let done = 0;
    const count = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        done += chunk.length;
        onBytes?.(done, total);
        next(null, chunk);
      },
    });
    // Node's web streams and the DOM's differ only in type.
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    await pipeline(body, count, createWriteStream(file));
    if (total > 0 && done !== total) throw new Error(`expected ${total} bytes, got ${done}`);
  } catch (cause) {
    rmSync(file, { force: true });
    if (isInterruption(cause)) throw cause;
    throw new BraidError('DOWNLOAD_FAILED', `${url}: the download failed (${fetchReason(cause)})`, {
      cause,
      remedy: 'Check the connection and try again, or download the file elsewhere and pass its path.',
    });
  }
}
