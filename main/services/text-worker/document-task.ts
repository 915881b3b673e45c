/** Makes text of a document. The libraries are large: they are loaded when the first document comes. */
import { extname } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';

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
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw inputError('BAD_DOCUMENT', `can't be read (${reason}); save it as .txt`);
  }
}
