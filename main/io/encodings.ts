/** Texts that aren't UTF-8: UTF-16, and Windows-1252 with Latin-1, its subset. Only what can be recognised with certainty. */
import { readRegular } from './read-file.ts';
import { binaryKind, type Checked, decodeText, readFault } from './text-file.ts';

/** declared: the one that a page of HTML names. */
export type Encoding = 'UTF-8' | 'UTF-16' | 'Windows-1252' | 'declared';

export interface DecodedText {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Reads and decodes a file; see `decodeProse`. */
export function readProse(file: string): Checked<DecodedText> {
  try {
    return decodeProse(file, readRegular(file));
  } catch (error) {
    return { kind: 'bad', fault: readFault(file, error) };
  }
}

/** Decodes prose of any supported encoding; what is in none of them, or may be in several, is an error. */
export function decodeProse(file: string, bytes: Uint8Array): Checked<DecodedText> {
  const wide = wideEncoding(bytes);
  if (wide !== null) return decoded(file, bytes, wide, 'UTF-16');
  const strict = decodeText(file, bytes);
  if (strict.kind === 'good') return { kind: 'good', value: { text: strict.value, encoding: 'UTF-8' } };
  return isWestern(bytes) && binaryKind(bytes) === null ? decoded(file, bytes, 'windows-1252', 'Windows-1252') : strict;
}

/** Decodes a page of HTML: one that isn't UTF-8 says in its first lines what it is. */
export function decodeHtml(file: string, bytes: Uint8Array): Checked<DecodedText> {
  const read = decodeProse(file, bytes);
  if (read.kind === 'good' && read.value.encoding !== 'Windows-1252') return read;
  const start = Buffer.from(bytes.subarray(0, 2048)).toString('latin1');
  const label = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1];
  try {
    if (label !== undefined) new TextDecoder(label);
  } catch {
    return read;
  }
  if (label === undefined || /^utf-?(?:8|16)/i.test(label)) return read;
  const declared = decoded(file, bytes, label, 'declared');
  return declared.kind === 'good' ? declared : read;
}

function decoded(file: string, bytes: Uint8Array, label: string, encoding: Encoding): Checked<DecodedText> {
  let text: string;
  try {
    text = new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return { kind: 'bad', fault: { file, line: null, reason: `expected ${encoding} text, got invalid bytes` } };
  }
  // The checks for binary and foreign files are those of UTF-8.
  const checked = decodeText(file, new TextEncoder().encode(text));
  return checked.kind === 'bad' ? checked : { kind: 'good', value: { text: checked.value, encoding } };
}

/** Characters looked at to recognise UTF-16 without a byte-order mark. */
const SAMPLE = 4096;

/** By its byte-order mark or, without one, by the zeros that every second byte of Latin text is; null: not UTF-16. */
function wideEncoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes.length < 8 || bytes.length % 2 !== 0) return null;
  const units = Math.min(SAMPLE, bytes.length / 2);
  let [first, second] = [0, 0];
  for (let i = 0; i < units; i++) {
    if (bytes[2 * i] === 0) first++;
    if (bytes[2 * i + 1] === 0) second++;
  }
  if (first === 0 && second > units * MOSTLY) return 'utf-16le';
  return second === 0 && first > units * MOSTLY ? 'utf-16be' : null;
}

/** The least share of Latin characters in UTF-16 without a mark: scripts without them look like other encodings. */
const MOSTLY = 0.7;

/** Bytes that Windows-1252 doesn't assign. */
const UNASSIGNED: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** Letters that Latin-1 has not. */
const MORE_LETTERS: Readonly<Record<string, number>> = {
  Š: 0x8a,
  Œ: 0x8c,
  Ž: 0x8e,
  š: 0x9a,
  œ: 0x9c,
  ž: 0x9e,
  Ÿ: 0x9f,
};
const moreLetters: ReadonlySet<number> = new Set(Object.values(MORE_LETTERS));
/** Typographic characters: quotation marks, dashes, the ellipsis, symbols, the no-break space; × and ÷. */
const isSign = (byte: number): boolean => (byte < 0xc0 && !moreLetters.has(byte)) || byte === 0xd7 || byte === 0xf7;
/** Symbols that stand within no word, but for which other encodings have letters: the Polish ł is a ³ here. */
const isLoneSign = (byte: number): boolean =>
  byte > 0xa0 && byte < 0xc0 && ![0xaa, 0xab, 0xad, 0xb0, 0xb4, 0xb7, 0xba, 0xbb].includes(byte);
const isLetter = (byte = 0): boolean =>
  byte < 0x80 ? (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a : !UNASSIGNED.has(byte) && !isSign(byte);

/** The accented letters of the languages that it is for: French and German together, Spanish, Portuguese and so on. */
const ALPHABETS: readonly ReadonlySet<number>[] = [
  ...['àâæçéèêëîïôœùûüÿäöß', 'áéíñóúü', 'àáâãçéêíóôõúü', 'àèéìíîòóùú', 'àçèéíïòóúü', 'áäèéëêïóöôúüûîâ'],
  ...['æøåéóòôäö', 'åäöéüšž', 'äöüõšž', 'áæðéíóöøúýþ', 'áéíóúâêîôûïö', 'ëç'],
].map(
  (letters) =>
    new Set(
      Array.from(letters + letters.toUpperCase(), (letter) => MORE_LETTERS[letter] ?? letter.codePointAt(0) ?? 0),
    ),
);
/** The least share of the accented letters that one of them has: others are Polish, Czech, Turkish … in their encodings. */
const OF_ONE = 0.95;
/** Up to this share of all letters they may be of foreign names. */
const FEW = 0.01;
/** The largest share of symbols within words, which are slips. */
const SLIPS = 0.002;

/** The largest share of accented letters among all letters: Greek or Cyrillic in one byte have nearly only such bytes. */
const ACCENTED = 0.3;
/** More accented letters than this in a row occur in no language of Western Europe. */
const IN_A_ROW = 3;
/** The least share of letters among what isn't white space: other encodings read as this one look like noise. */
const LETTERS = 0.6;

/** Whether bytes that aren't UTF-8 are a Western European language in Windows-1252. */
function isWestern(bytes: Uint8Array): boolean {
  let [letters, accented, visible, row, within] = [0, 0, 0, 0, 0];
  const counts = new Map<number, number>();
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte > 0x20) visible++;
    if (byte < 0x80) {
      if (isLetter(byte)) letters++;
      row = 0;
      continue;
    }
    // A whole character of UTF-8 among the rest: a damaged UTF-8 file, whose text would be garbled.
    if (UNASSIGNED.has(byte) || isUtf8Character(bytes, i)) return false;
    if (isSign(byte)) {
      row = 0;
      if (isLoneSign(byte) && isLetter(bytes[i - 1]) && isLetter(bytes[i + 1])) within++;
      continue;
    }
    accented++;
    counts.set(byte, (counts.get(byte) ?? 0) + 1);
    row++;
    if (row > IN_A_ROW) return false;
  }
  const all = letters + accented;
  if (accented > ACCENTED * all || all < LETTERS * visible || within > SLIPS * all) return false;
  const known = (alphabet: ReadonlySet<number>): number =>
    [...counts].reduce((sum, [byte, count]) => sum + (alphabet.has(byte) ? count : 0), 0);
  return accented <= FEW * all || ALPHABETS.some((alphabet) => known(alphabet) >= OF_ONE * accented);
}

function isUtf8Character(bytes: Uint8Array, at: number): boolean {
  const lead = bytes[at] ?? 0;
  const rest =
    lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
  if (rest === 0) return false;
  for (let i = at + 1; i <= at + rest; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x80 || byte > 0xbf) return false;
  }
  return true;
}
