/** Unpacks chosen members of a zip archive (a Python wheel is one), each checked against its stored checksum. */
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { type Entry, open, type ZipFile } from 'yauzl';
import { inputError } from '../../errors.ts';
import { foreignPlace } from '../../io/foreign-name.ts';
import { zipContent, zipEntries } from '../../io/zip-entries.ts';

/** A member of the archive. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: number;
}

/** Lists the files of an archive. One that was cut short has no list, since that stands at the end. */
export function listZip(file: string): Promise<readonly ZipEntry[]> {
  return withEntries(file, async (_, entries) =>
    entries.map(({ fileName: name, uncompressedSize: bytes }) => ({ name, bytes })),
  );
}

/** Unpacks `wanted` under `folder` by their own names; `onBytes` hears how far it is. */
export function unpackZip(
  file: string,
  wanted: readonly ZipEntry[],
  folder: string,
  onBytes: (done: number, total: number) => void = () => undefined,
): Promise<void> {
  const names = new Set(wanted.map(({ name }) => name));
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  return withEntries(file, async (zip, entries) => {
    for (const entry of entries) {
      if (!names.has(entry.fileName)) continue;
      await unpack(file, zip, entry, foreignPlace(folder, entry.fileName, file), (bytes) => {
        done += bytes;
        onBytes(done, total);
      });
    }
  });
}

/** Opens an archive for as long as `work` takes. */
async function withEntries<T>(file: string, work: (zip: ZipFile, entries: readonly Entry[]) => Promise<T>): Promise<T> {
  const zip = await opened(file);
  try {
    const entries = await zipEntries(zip).catch((cause: unknown) => {
      throw notAnArchive(file, cause);
    });
    return await work(zip, entries.filter(isFile));
  } finally {
    zip.close();
  }
}

function opened(file: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    open(file, { lazyEntries: true, autoClose: false }, (error, zip) => {
      if (error === null) resolve(zip);
      else reject(notAnArchive(file, error));
    });
  });
}

/** Folders are made as they are needed. */
function isFile({ fileName }: Entry): boolean {
  return !fileName.endsWith('/');
}

async function unpack(
  file: string,
  zip: ZipFile,
  entry: Entry,
  target: string,
  onChunk: (bytes: number) => void,
): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  let crc = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      crc = crc32(chunk, crc);
      onChunk(chunk.length);
      next(null, chunk);
    },
  });
  try {
    await pipeline(await zipContent(zip, entry), check, createWriteStream(target));
  } catch (cause) {
    throw Object.assign(damaged(file, entry, (cause as Error).message), { cause });
  }
  if (crc !== entry.crc32) throw damaged(file, entry, 'its checksum is wrong');
}

function notAnArchive(file: string, cause: unknown): Error {
  const error = inputError(
    'NOT_AN_ARCHIVE',
    `${file}: not a complete zip archive with all names inside its own folder: it is truncated or of another kind`,
    'Download it again.',
  );
  return Object.assign(error, { cause });
}

function damaged(file: string, { fileName }: Entry, why: string) {
  return inputError('ARCHIVE_DAMAGED', `${file}: ${fileName} can't be unpacked: ${why}`, 'Download it again.');
}
