/** Packed files that datasets come in, `.gz` and `.zst`, read whole. */

import { extname } from 'node:path';
import * as zlib from 'node:zlib';
import { LARGEST_TEXT, readRegular } from './read-file.ts';

const PACKED_TYPES = ['.gz', '.zst'] as const;

/** A file's name without the ending of its packing: `a.jsonl.gz` is `a.jsonl`. */
export function unpackedName(file: string): string {
  const ending = extname(file);
  return isPacked(file) ? file.slice(0, -ending.length) : file;
}

export function isPacked(file: string): boolean {
  return (PACKED_TYPES as readonly string[]).includes(extname(file).toLowerCase());
}

/** The bytes of a file, unpacked if its ending says that it is packed. The message of an error says why. */
export function readUnpacked(file: string): Buffer {
  const bytes = readRegular(file, LARGEST_TEXT);
  if (!isPacked(file)) return bytes;
  const type = extname(file).toLowerCase();
  try {
    return type === '.gz' ? zlib.gunzipSync(bytes, { maxOutputLength: LARGEST_TEXT }) : unpackZstd(bytes);
  } catch (cause) {
    const isLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isLarge
      ? `expected at most ${Math.floor(LARGEST_TEXT / 2 ** 20)} MiB when unpacked, got more; split the file`
      : `expected a whole ${type} file: ${(cause as Error).message}`;
    throw new Error(reason, { cause });
  }
}

/** As many as 128 MiB in pieces of 2 KiB: each takes a call. */
const MOST_FRAMES = 65_536;

/** All frames of a file: `pzstd` and what is appended to a file make several, of which Node unpacks the first alone. */
function unpackZstd(bytes: Buffer): Buffer {
  const unpack = zstd() as unknown as Unpack;
  const parts: Buffer[] = [];
  for (let [at, size] = [0, 0]; at < bytes.length || parts.length === 0; ) {
    if (parts.length === MOST_FRAMES) throw new Error(`it has more than ${MOST_FRAMES} frames; pack it again as one`);
    const { buffer, engine } = unpack(bytes.subarray(at), {
      info: true,
      maxOutputLength: Math.max(1, LARGEST_TEXT - size),
    });
    parts.push(buffer);
    size += buffer.length;
    at += engine.bytesWritten;
  }
  return Buffer.concat(parts);
}

/** With `info`, which Node's types leave out; `bytesWritten` are those that were read. */
type Unpack = (
  bytes: Uint8Array,
  options: { readonly info: true; readonly maxOutputLength: number },
) => { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };

/** Node 22.15 and 23.8 brought it. */
function zstd(): typeof zlib.zstdDecompressSync {
  const { zstdDecompressSync } = zlib as Partial<typeof zlib>;
  if (zstdDecompressSync !== undefined) return zstdDecompressSync;
  throw new Error(
    `this Node (${process.version}) can't unpack .zst: use Node 24, or unpack the file by \`zstd -d\` first`,
  );
}
