/** What a drop or a paste holds: files, or text that counts as one. */

/** Something to import, by name and content. */
export interface NamedContent {
  readonly name: string;
  readonly content: Blob;
}

/** What came, or why nothing of it can be taken. */
export type Dropped =
  | { readonly kind: 'files'; readonly files: readonly NamedContent[] }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'nothing' };

/** All files of one import together; the host refuses more. */
export const MOST_BYTES = 64 * 2 ** 20;

/** Reads a drop or a paste. Text has no name: the host tells from its content what it is. */
export function droppedIn(transfer: DataTransfer): Dropped {
  const folder = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).find((entry) => entry?.isDirectory);
  if (folder) return { kind: 'refused', reason: `“${folder.name}” is a folder. Drop the files that are in it.` };
  const files = [...transfer.files].map((file) => ({ name: file.name, content: file }));
  if (files.length > 0) return checked(files);
  const text = transfer.getData('text/plain');
  return text.trim() === '' ? { kind: 'nothing' } : checked([pasted(text)]);
}

/** A pasted text as a file without an ending. */
export function pasted(text: string): NamedContent {
  return { name: 'Pasted text', content: new Blob([text]) };
}

/** The files, unless they are more than one import takes. */
export function checked(files: readonly NamedContent[]): Dropped {
  const bytes = files.reduce((sum, { content }) => sum + content.size, 0);
  if (bytes <= MOST_BYTES) return { kind: 'files', files };
  const size = Math.ceil(bytes / 2 ** 20);
  return {
    kind: 'refused',
    reason: `That is ${size} MiB; one import takes ${MOST_BYTES / 2 ** 20} MiB. Import it in several parts.`,
  };
}
