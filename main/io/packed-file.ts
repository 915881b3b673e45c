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
  const unpack = type === '.gz' ? zlib.gunzipSync : zstd();
  try {
    return unpack(bytes, { maxOutputLength: LARGEST_TEXT });
  } catch (cause) {
    const isLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isLarge
      ? `expected at most ${Math.floor(LARGEST_TEXT / 2 ** 20)} MiB when unpacked, got more; split the file`
      : `expected a whole ${type} file: ${(cause as Error).message}`;
    throw new Error(reason, { cause });
  }
}

/** Node 22.15 and 23.8 brought it. */
function zstd(): typeof zlib.zstdDecompressSync {
  const { zstdDecompressSync } = zlib as Partial<typeof zlib>;
  if (zstdDecompressSync !== undefined) return zstdDecompressSync;
  throw new Error(
    `this Node (${process.version}) can't unpack .zst: use Node 24, or unpack the file by \`zstd -d\` first`,
  );
}
