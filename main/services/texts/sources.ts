/** Reading what is imported: files, folders and zip archives, by content or by path, in any supported encoding. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { BraidError } from '../../errors.ts';
import { type DecodedText, decodeHtml, decodeProse, type Encoding } from '../../io/encodings.ts';
import { LARGEST_TEXT, readRegular } from '../../io/read-file.ts';
import { type Checked, type FileFault, readFault } from '../../io/text-file.ts';
import { append } from '../../lists.ts';
import { isArchive, MAX_UNPACKED, type NamedBytes, readArchive } from './archive.ts';
import { type DocumentReader, isDocument } from './documents.ts';
import { otherType, TEXT_TYPES } from './file-types.ts';
import { readFolder } from './folder.ts';
import { guessedName } from './guess-format.ts';
import { type ParsedFile, type ParseOptions, parseTexts } from './parse.ts';
import type { SourceText } from './source-text.ts';

/** A file by its content (dropped or pasted) or a file or folder by its path. */
export type ImportSource = NamedBytes | { readonly name: string; readonly path: string };

/** What was read of a file. One in a folder or an archive is named with it: `export.zip/conversations.json`. */
export interface ReadFile {
  readonly name: string;
  readonly texts: readonly SourceText[];
  readonly faults: readonly FileFault[];
  /** null: it couldn't be decoded. */
  readonly encoding: Encoding | null;
}

export interface ReadSources {
  readonly files: readonly ReadFile[];
  /** Files of folders and archives that aren't texts, or that accompany a chat export. */
  readonly skipped: number;
}

type Found = ReadFile & { readonly isChat: boolean };

/** Reads all of them; what can't be read is a fault of its file. */
export async function readSources(
  sources: readonly ImportSource[],
  options: ParseOptions,
  documents: DocumentReader,
): Promise<ReadSources> {
  const found: Found[] = [];
  let skipped = 0;
  for (const source of sources) {
    const { files, others, faults } = await expand(source);
    skipped += others;
    append(
      found,
      faults.map((fault) => ({ ...nothing(fault), isChat: false })),
    );
    // The limit is for folders and archives: nobody sees beforehand how much is in them.
    let left = files[0] === source ? LARGEST_TEXT : MAX_UNPACKED;
    for (const file of files) {
      const read = await readOne(file, left, options, documents);
      left -= read.bytes;
      found.push(read.file);
    }
  }
  const kept = withoutCompanions(found);
  return { files: kept, skipped: skipped + found.length - kept.length };
}

interface Expanded {
  readonly files: readonly ImportSource[];
  readonly others: number;
  readonly faults: readonly FileFault[];
}

async function expand(source: ImportSource): Promise<Expanded> {
  if ('path' in source && isFolder(source.path)) return notEmpty(readFolder(source.path), source.name, 'folder');
  if (!isArchive(source.name)) return { files: [source], others: 0, faults: [] };
  const content = contentOf(source, MAX_UNPACKED);
  if (content.kind === 'bad') return { files: [], others: 0, faults: [content.fault] };
  return notEmpty(await readArchive(basename(source.name), content.value), source.name, 'archive');
}

function notEmpty(expanded: Expanded, name: string, kind: 'folder' | 'archive'): Expanded {
  if (expanded.files.length > 0 || expanded.faults.length > 0) return expanded;
  const reason = `expected ${TEXT_TYPES} files in the ${kind}, got none`;
  return { ...expanded, faults: [{ file: name, line: null, reason }] };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function contentOf(source: ImportSource, most: number): Checked<Uint8Array> {
  if ('bytes' in source) return { kind: 'good', value: source.bytes };
  try {
    return { kind: 'good', value: readRegular(source.path, most) };
  } catch (error) {
    return { kind: 'bad', fault: readFault(source.name, error) };
  }
}

async function readOne(
  source: ImportSource,
  most: number,
  options: ParseOptions,
  documents: DocumentReader,
): Promise<{ file: Found; bytes: number }> {
  const content = contentOf(source, Math.max(0, most));
  const decoded = content.kind === 'bad' ? content : await decode(source.name, content.value, documents);
  const bytes = content.kind === 'bad' ? 0 : content.value.length;
  if (decoded.kind === 'bad') return { file: { ...nothing(decoded.fault), isChat: false }, bytes };
  const { text, encoding } = decoded.value;
  const name = guessedName(source.name, text);
  const { texts, faults, isChat }: ParsedFile = parseTexts(name, text, options);
  return { file: { name, texts, faults, encoding, isChat }, bytes };
}

async function decode(name: string, bytes: Uint8Array, documents: DocumentReader): Promise<Checked<DecodedText>> {
  const other = otherType(name);
  if (other !== null) return { kind: 'bad', fault: { file: name, line: null, reason: other } };
  if (/\.html?$/i.test(name)) return decodeHtml(name, bytes);
  if (!isDocument(name)) return decodeProse(name, bytes);
  try {
    return { kind: 'good', value: { text: await documents.read(name, bytes), encoding: 'UTF-8' } };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return { kind: 'bad', fault: { file: name, line: null, reason: error.message } };
  }
}

function nothing(fault: FileFault): ReadFile {
  return { name: fault.file, texts: [], faults: [fault], encoding: null };
}

/**
 * A chat export has more files than conversations: accounts, settings, feedback. Their JSON isn't texts, although it
 * can be read as some.
 */
function withoutCompanions(files: readonly Found[]): readonly ReadFile[] {
  const exports = new Set(files.flatMap(({ name, isChat }) => (isChat ? (containerOf(name) ?? []) : [])));
  return files.filter(({ name, isChat, encoding }) => {
    const container = containerOf(name);
    if (isChat || encoding === null || container === null || !exports.has(container)) return true;
    return !/\.(?:json|jsonl|ndjson)$/i.test(name);
  });
}

/** The folder or archive that a file came with; null: none. */
function containerOf(name: string): string | null {
  const end = name.indexOf('/');
  return end < 0 ? null : name.slice(0, end);
}
