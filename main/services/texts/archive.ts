/**
 * The texts in a zip archive, read in memory: nothing of it is written to the disk, so its names can't lead anywhere.
 * Sizes are those that unpacking gives, not those that the archive claims.
 */
import { basename, extname } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';
import { inputError } from '../../errors.ts';
import type { FileFault } from '../../io/text-file.ts';
import { zipContent, zipEntries } from '../../io/zip-entries.ts';
import { isTextEnding } from './file-types.ts';

/** A file with its content in memory; `name` includes its folders. */
export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The texts found in an archive or folder, and the number of other files. */
export interface Collected<T> {
  readonly files: readonly T[];
  readonly others: number;
  /** Members that couldn't be read, or why nothing could. */
  readonly faults: readonly FileFault[];
}

/** Files of all kinds in an archive or folder: more is no collection of texts. */
export const MAX_MEMBERS = 20_000;
/** The texts of one archive together, unpacked, in bytes. */
export const MAX_UNPACKED = 64 * 2 ** 20;

/** Whether a file in a folder or an archive may contain texts: by its ending, and not hidden (macOS adds such files). */
export function mayHoldTexts(name: string): boolean {
  const hidden = name.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
  return !hidden && isTextEnding(extname(name).toLowerCase());
}

export function isArchive(name: string): boolean {
  return extname(name).toLowerCase() === '.zip';
}

/** Reads the texts of a zip archive; one that isn't whole or looks hostile is refused as a whole. */
export async function readArchive(name: string, bytes: Uint8Array): Promise<Collected<NamedBytes>> {
  const refuse = (reason: string) => ({ files: [], others: 0, faults: [{ file: name, line: null, reason }] });
  let zip: ZipFile;
  try {
    zip = await opened(bytes);
  } catch (error) {
    return refuse(`can't be opened as a zip archive: ${(error as Error).message}`);
  }
  try {
    if (zip.entryCount > MAX_MEMBERS) return refuse(tooMany(zip.entryCount));
    const entries = (await zipEntries(zip)).filter(({ fileName }) => !fileName.endsWith('/'));
    const wanted = entries.filter(({ fileName }) => mayHoldTexts(fileName));
    const claimed = wanted.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (claimed > MAX_UNPACKED) return refuse(tooLarge(claimed));
    return { ...(await unpackAll(name, zip, wanted)), others: entries.length - wanted.length };
  } catch (error) {
    return refuse(`can't be unpacked: ${(error as Error).message}`);
  } finally {
    zip.close();
  }
}

function tooMany(count: number): string {
  return `has ${count} files, expected at most ${MAX_MEMBERS}; unpack it and import the files with the texts`;
}

function tooLarge(bytes: number): string {
  const size = Math.ceil(bytes / 2 ** 20);
  return `unpacks to ${size} MiB of texts, expected at most ${MAX_UNPACKED / 2 ** 20} MiB; unpack it and import in parts`;
}

async function unpackAll(archive: string, zip: ZipFile, entries: readonly Entry[]) {
  const files: NamedBytes[] = [];
  const faults: FileFault[] = [];
  for (const entry of entries) {
    const name = `${basename(archive)}/${entry.fileName}`;
    try {
      files.push({ name, bytes: await unpack(zip, entry) });
    } catch (error) {
      faults.push({ file: name, line: null, reason: `can't be unpacked: ${(error as Error).message}` });
    }
  }
  return { files, faults };
}

/** The members of an archive whose names fit, unpacked; an archive of more or larger ones is an error. */
export async function membersOf(bytes: Uint8Array, isWanted: (name: string) => boolean): Promise<NamedBytes[]> {
  const zip = await opened(bytes);
  try {
    if (zip.entryCount > MAX_MEMBERS) throw inputError('BAD_ARCHIVE', tooMany(zip.entryCount));
    const entries = (await zipEntries(zip)).filter(({ fileName }) => isWanted(fileName));
    const claimed = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (claimed > MAX_UNPACKED) throw inputError('BAD_ARCHIVE', tooLarge(claimed));
    const members: NamedBytes[] = [];
    for (const entry of entries) members.push({ name: entry.fileName, bytes: await unpack(zip, entry) });
    return members;
  } finally {
    zip.close();
  }
}

/** yauzl ends a stream that gives more or fewer bytes than the archive claims; the checksum is left to us. */
async function unpack(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  if (entry.isEncrypted()) throw new Error('it is encrypted');
  const chunks: Buffer[] = [];
  for await (const chunk of await zipContent(zip, entry)) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (crc32(bytes) !== entry.crc32) throw new Error('its checksum is wrong');
  return bytes;
}

function opened(bytes: Uint8Array): Promise<ZipFile> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new Promise((resolve, reject) => {
    fromBuffer(buffer, { lazyEntries: true }, (error, zip) => (error === null ? resolve(zip) : reject(error)));
  });
}
