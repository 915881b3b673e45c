/** Writes large files in pieces: with progress, cancellable, flushed to disk at the end. */
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { writeError } from '../../io/atomic-write.ts';

export interface PouringOptions {
  readonly signal: AbortSignal;
  /** Called with the bytes of each piece. */
  readonly onBytes: (count: number) => void;
  /** Appends to the file. */
  readonly append?: boolean;
}

/** Writes a stream to a file. */
export async function pour(
  from: Readable | ReadableStream<Uint8Array>,
  file: string,
  { signal, onBytes, append = false }: PouringOptions,
): Promise<void> {
  const counter = new Transform({
    transform: (chunk: Uint8Array, _, done) => {
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  const source = from instanceof Readable ? from : Readable.fromWeb(from);
  try {
    await pipeline(source, counter, createWriteStream(file, { flags: append ? 'a' : 'w', flush: true }), { signal });
  } catch (error) {
    throw signal.aborted ? error : writeError(error, file);
  }
}
