/** Reading the user's files: strict UTF-8, and errors that name the file, the line and the reason. */
import { type BraidError, inputError } from '../errors.ts';
import { readRegular } from './read-file.ts';

/** An error in a file, with its location. */
export interface FileFault {
  readonly file: string;
  /** Counted from 1; null if it concerns the whole file. */
  readonly line: number | null;
  readonly reason: string;
}

/** A value, or the error of its file. */
export type Checked<T> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'bad'; readonly fault: FileFault };

/** An error in a file as one line of a message. */
export function describeFault({ file, line, reason }: FileFault): string {
  return line === null ? `${file}: ${reason}` : `${file}, line ${line}: ${reason}`;
}

const MAX_SHOWN = 20;

/** So many faults of a file are enough to stop at. */
export const ENOUGH_FAULTS = 1000;

/** One error for all faults; the first twenty are listed. */
export function faultsError(code: string, faults: readonly FileFault[], remedy: string): BraidError {
  const shown = faults.slice(0, MAX_SHOWN).map(describeFault);
  const rest = faults.length - shown.length;
  const more = `and ${faults.length === ENOUGH_FAULTS ? 'at least ' : ''}${rest} more`;
  return inputError(code, [...shown, ...(rest > 0 ? [more] : [])].join('\n'), remedy);
}

/** Reads and decodes a file of at most so many bytes. */
export function readTextFile(file: string, most?: number): Checked<string> {
  try {
    return decodeText(file, readRegular(file, most));
  } catch (error) {
    return { kind: 'bad', fault: readFault(file, error) };
  }
}

/** Why a file can't be read, from the error of reading it. */
export function readFault(file: string, error: unknown): FileFault {
  return { file, line: null, reason: reasonOf(error as NodeJS.ErrnoException) };
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'the file does not exist';
  if (error.code === 'ENOTDIR') return 'a part of its path is a file, not a folder';
  if (error.code === 'EISDIR') return 'expected a file, got a folder';
  if (error.code === 'EACCES' || error.code === 'EPERM') return 'no permission to read it';
  if (error.code === 'ENOTREG' || error.code === 'EFBIG') return error.message;
  return `can't be read (${error.code ?? error.message})`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells a binary file
const BINARY = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;
const FOREIGN: readonly (readonly [start: string, what: string])[] = [
  ['%PDF-', 'a PDF'],
  ['{\\rtf', 'an RTF document'],
];
const MEDIA = 'a picture, sound or video';
const PACKED = 'a packed file';
/** The first bytes, as Latin-1, of files that people rename or choose by mistake. */
const BINARIES: readonly (readonly [start: string, what: string])[] = [
  ['PK\x03', 'a zip archive or an Office document'],
  ['PK\x05', 'a zip archive or an Office document'],
  ['\xd0\xcf\x11\xe0', 'an old Office document'],
  ...['\x89PNG', '\xff\xd8\xff', 'GIF8', 'RIFF', 'II*\0', 'MM\0*', 'ID3', 'OggS', 'fLaC'].map(
    (s) => [s, MEDIA] as const,
  ),
  ...['\x1f\x8b', 'BZh', '\xfd7zXZ', '7z\xbc\xaf', 'Rar!', '(\xb5/\xfd'].map((s) => [s, PACKED] as const),
  ['SQLite format 3', 'a database'],
  ['PAR1', 'a parquet table'],
  ['GGUF', 'a model'],
  ['\x7fELF', 'a program'],
  ['MZ', 'a program'],
];

/** Decodes strict UTF-8, with or without a byte-order mark; a binary file or one in another encoding is an error. */
export function decodeText(file: string, bytes: Uint8Array): Checked<string> {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return bad(file, null, 'expected UTF-8, got UTF-16; save it as UTF-8');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return (
      binary(file, bytes) ?? bad(file, firstBadLine(bytes), 'expected UTF-8 text, got invalid bytes; save it as UTF-8')
    );
  }
  const foreign = FOREIGN.find(([start]) => text.startsWith(start));
  if (foreign !== undefined) return bad(file, null, `expected text, got ${foreign[1]}; save it as plain text`);
  const control = text.search(BINARY);
  if (control >= 0)
    return (
      binary(file, bytes) ?? bad(file, lineOf(text, control), 'expected text, got a binary file (control characters)')
    );
  return { kind: 'good', value: text };
}

/** What a file is that isn't text, by its first bytes; null: nothing that is known. */
export function binaryKind(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  if (start.slice(4, 8) === 'ftyp') return MEDIA;
  return BINARIES.find(([begin]) => start.startsWith(begin))?.[1] ?? null;
}

function binary(file: string, bytes: Uint8Array): Checked<never> | null {
  const what = binaryKind(bytes);
  return what === null ? null : bad(file, null, `expected text, got a binary file: ${what}`);
}

function bad(file: string, line: number | null, reason: string): Checked<never> {
  return { kind: 'bad', fault: { file, line, reason } };
}

/** The line, from 1, of a character. */
export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** No UTF-8 sequence contains a line feed, so each line can be decoded separately. */
function firstBadLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end < 0 ? bytes.length : end;
    try {
      decoder.decode(bytes.subarray(start, stop));
    } catch {
      return line;
    }
    start = stop + 1;
  }
  return line;
}
