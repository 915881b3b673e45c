/** Unpacks chosen members of a zip archive (a Python wheel is one), each checked against its stored checksum. */
import { closeSync, createReadStream, createWriteStream, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { inputError } from '../../errors.ts';

/** A member of the archive. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Where its local header starts. */
  readonly offset: number;
}

const END = 0x06054b50;
const MEMBER = 0x02014b50;
const LOCAL_HEADER_BYTES = 30;

/** Lists an archive. One that was cut short has no list, since that stands at the end. */
export function listZip(file: string): readonly ZipEntry[] {
  const descriptor = openSync(file, 'r');
  try {
    const size = fstatSync(descriptor).size;
    const tail = readAt(descriptor, Math.max(0, size - 65_557), Math.min(size, 65_557));
    const end = findEnd(tail);
    if (end < 0) {
      throw inputError(
        'NOT_AN_ARCHIVE',
        `${file}: expected a zip archive, its end is missing: it was cut short or is something else (${size} bytes)`,
        'Download it again.',
      );
    }
    const [bytes, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
    return readDirectory(readAt(descriptor, start, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** Unpacks `entries` under `folder` by their own names; `onBytes` hears how far it is. */
export async function unpackZip(
  file: string,
  entries: readonly ZipEntry[],
  folder: string,
  onBytes: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const entry of entries) {
    await unpack(file, entry, join(folder, entry.name), (bytes) => {
      done += bytes;
      onBytes(done, total);
    });
  }
}

async function unpack(file: string, entry: ZipEntry, target: string, onChunk: (bytes: number) => void): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const start = dataStart(file, entry);
  let crc = 0;
  let bytes = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      crc = crc32(chunk, crc);
      bytes += chunk.length;
      onChunk(chunk.length);
      next(null, chunk);
    },
  });
  const packed = createReadStream(file, { start, end: Math.max(start, start + entry.packedBytes - 1) });
  try {
    if (entry.bytes === 0) await pipeline([], createWriteStream(target));
    else if (entry.method === 0) await pipeline(packed, check, createWriteStream(target));
    else await pipeline(packed, createInflateRaw(), check, createWriteStream(target));
  } catch (cause) {
    throw Object.assign(damaged(file, entry, (cause as Error).message), { cause });
  }
  if (bytes !== entry.bytes || crc !== entry.crc) throw damaged(file, entry, 'its checksum is wrong');
}

function damaged(file: string, { name }: ZipEntry, why: string) {
  return inputError('ARCHIVE_DAMAGED', `${file}: ${name} can't be unpacked: ${why}`, 'Download it again.');
}

function dataStart(file: string, { offset }: ZipEntry): number {
  const descriptor = openSync(file, 'r');
  try {
    const header = readAt(descriptor, offset, LOCAL_HEADER_BYTES);
    return offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  } finally {
    closeSync(descriptor);
  }
}

function findEnd(tail: Buffer): number {
  for (let at = tail.length - 22; at >= 0; at--) if (tail.readUInt32LE(at) === END) return at;
  return -1;
}

function readDirectory(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === MEMBER; ) {
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + name),
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    });
    at += 46 + name + extra + comment;
  }
  // Folders are made as they are needed, and unpacking must stay inside its own.
  return entries.filter(({ name }) => !/^\/|\/$/.test(name) && !name.split('/').includes('..'));
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  readSync(descriptor, buffer, 0, length, position);
  return buffer;
}
