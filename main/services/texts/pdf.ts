/** The text of a PDF, by pdf.js in its build for servers: lines as they are printed, paragraphs by their distance. */
import { getDocumentProxy } from 'unpdf';
import { inputError } from '../../errors.ts';
import { LONGEST_TEXT } from './limits.ts';

/** What pdf.js says of a piece of text. */
interface Printed {
  readonly str: string;
  readonly height: number;
  readonly transform: readonly number[];
  readonly hasEOL: boolean;
}

/** The distance of two lines, in heights of a line, from which a paragraph ends. */
const PARAGRAPH = 1.8;

export async function pdfText(bytes: Uint8Array): Promise<string> {
  const file = await opened(bytes);
  const pages: string[][] = [];
  let length = 0;
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number);
    const { items } = await page.getTextContent();
    const lines = linesOf(items.filter((item): item is typeof item & Printed => 'str' in item));
    length += lines.reduce((sum, line) => sum + line.length, 0);
    if (length > LONGEST_TEXT) throw inputError('BAD_DOCUMENT', 'has too much text; save it in parts');
    if (lines.length > 0) pages.push(lines);
    page.cleanup();
  }
  if (pages.length === 0)
    throw inputError('BAD_DOCUMENT', 'has pages without text, such as a scan; run text recognition (OCR) on it first');
  const text = withoutRunningLines(pages)
    .map((lines) => lines.join('\n').trim())
    .join('\n');
  return withWholeWords(text);
}

async function opened(bytes: Uint8Array) {
  try {
    // pdf.js takes the bytes for itself.
    return await getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
  } catch (error) {
    if ((error as Error).name === 'PasswordException')
      throw inputError('BAD_DOCUMENT', 'has a password; save a copy without one');
    throw error;
  }
}

function linesOf(items: readonly Printed[]): string[] {
  const lines: string[] = [];
  let line = '';
  let [bottom, height] = [Number.NaN, 0];
  for (const { str, height: own, transform, hasEOL } of items) {
    const at = transform[5] ?? 0;
    if (line === '' && str.trim() !== '') {
      if (Math.abs(bottom - at) > PARAGRAPH * Math.max(own, height)) lines.push('');
      [bottom, height] = [at, own];
    }
    line += str;
    if (!hasEOL) continue;
    if (line.trim() !== '') lines.push(line.trim());
    line = '';
  }
  if (line.trim() !== '') lines.push(line.trim());
  return lines;
}

const PAGE_NUMBER = /^[\p{Pd}\s]*(?:\d{1,4}|(?=[ivx])x{0,3}(?:ix|iv|v?i{0,3}))[\p{Pd}\s]*$/u;
/** Of pages that begin or end with the same line: the share and number from which it is a running title. */
const RUNNING = { share: 0.25, pages: 3 };

/** Page numbers and running titles would stand within sentences that go over two pages. */
function withoutRunningLines(pages: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const bare = pages.map((lines) => withoutNumber(lines));
  const isRunning = (end: 0 | -1) => {
    const counts = new Map<string, number>();
    for (const lines of bare) counts.set(lines.at(end) ?? '', (counts.get(lines.at(end) ?? '') ?? 0) + 1);
    const least = Math.max(RUNNING.pages, RUNNING.share * pages.length);
    return (line: string | undefined): boolean => line !== undefined && (counts.get(line) ?? 0) >= least;
  };
  const [isHead, isFoot] = [isRunning(0), isRunning(-1)];
  return bare.map((lines) => {
    const start = isHead(lines[0]) ? 1 : 0;
    const end = lines.length > start && isFoot(lines.at(-1)) ? lines.length - 1 : lines.length;
    return withoutNumber(lines.slice(start, end));
  });
}

function withoutNumber(lines: readonly string[]): readonly string[] {
  const shown = lines.slice(PAGE_NUMBER.test(lines[0] ?? '') ? 1 : 0);
  return PAGE_NUMBER.test(shown.at(-1) ?? '') ? shown.slice(0, -1) : shown;
}

/** Where a word continues in the next line. */
const DIVIDED = /(?<=\p{Ll})[-\u00ad\u2010]\n(?=\p{Ll})/gu;
/** The longest part of a word that is compared. */
const PART = 64;

/** A word that was divided at the end of a line is one word again, a compound that the text has elsewhere keeps its hyphen. */
function withWholeWords(text: string): string {
  if (text.search(DIVIDED) < 0) return text;
  const words = new Set<string>();
  const compounds = new Set<string>();
  for (const [compound] of text.toLowerCase().matchAll(/\p{L}+(?:[-\u2010]\p{L}+)*/gu)) {
    const parts = compound.split(/[-\u2010]/);
    for (const [i, part] of parts.entries()) {
      words.add(part);
      if (i > 0) compounds.add(`${parts[i - 1]}-${part}`);
    }
  }
  return text.replace(DIVIDED, (division, at: number) => {
    const [mark = ''] = division;
    const [before = ''] = /\p{L}+$/u.exec(text.slice(Math.max(0, at - PART), at).toLowerCase()) ?? [];
    const [after = ''] =
      /^\p{L}+/u.exec(text.slice(at + division.length, at + division.length + PART).toLowerCase()) ?? [];
    const isCompound = compounds.has(`${before}-${after}`) && !words.has(before + after);
    return isCompound && mark !== '\u00ad' ? mark : '';
  });
}
