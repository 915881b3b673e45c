/** Makes text of a document. The libraries are large: they are loaded when the first document comes. */
import { extname } from 'node:path';
import { BraidError } from '../../errors.ts';

export interface DocumentInput {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export async function readDocument({ name, bytes }: DocumentInput): Promise<string> {
  try {
    if (extname(name).toLowerCase() === '.pdf') return await (await import('../texts/pdf.ts')).pdfText(bytes);
    return await (await import('../texts/docx.ts')).docxHtml(bytes);
  } catch (error) {
    if (error instanceof BraidError) throw error;
    throw damaged(error);
  }
}

/** The libraries' own words say nothing to somebody with a document. */
export function damaged(cause: unknown): BraidError {
  const reason = 'is damaged, or not what its name says; open it in its program, and save it again or as .txt';
  return new BraidError('BAD_DOCUMENT', reason, { kind: 'input', cause });
}
