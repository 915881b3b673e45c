/** Files that aren't text and that a library makes text of, in a thread of its own (text-worker/document-thread.ts). */
import { extname } from 'node:path';

/** Reads such a file; errors say why it can't be read. */
export interface DocumentReader {
  /** The HTML of a .docx file, the text of a .pdf file. */
  read(name: string, bytes: Uint8Array): Promise<string>;
  close(): Promise<void>;
}

export function isDocument(name: string): boolean {
  return ['.docx', '.pdf'].includes(extname(name).toLowerCase());
}
