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
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number);
    const { items } = await page.getTextContent();
    const text = pageText(items.filter((item): item is typeof item & Printed => 'str' in item));
    length += text.length;
    if (length > LONGEST_TEXT) throw inputError('BAD_DOCUMENT', 'has too much text; save it in parts');
    if (text !== '') pages.push(text);
    page.cleanup();
  }
  if (pages.length === 0)
    throw inputError('BAD_DOCUMENT', 'has pages without text, such as a scan; run text recognition (OCR) on it first');
  // A word that was divided at the end of a line is one word again.
  return pages.join('\n').replace(/(\p{Ll})[-\u00ad\u2010]\n(?=\p{Ll})/gu, '$1');
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

function pageText(items: readonly Printed[]): string {
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
  return lines.join('\n').trim();
}
