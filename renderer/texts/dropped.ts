/** Reads a drop or a paste: files, or text that is treated as one. */

/** Something to import, by name and content. */
export interface NamedContent {
  readonly name: string;
  readonly content: Blob;
}

/** What was dropped, or why it can't be imported. */
export type Dropped =
  | { readonly kind: 'files'; readonly files: readonly NamedContent[] }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'nothing' };

/** The limit for all files of one import, as on the host. */
export const MAX_BYTES = 64 * 2 ** 20;

/** Reads a drop or a paste. Text has no name: the host detects its type from the content. */
export function droppedIn(transfer: DataTransfer): Dropped {
  const folder = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).find((entry) => entry?.isDirectory);
  if (folder) return { kind: 'refused', reason: `“${folder.name}” is a folder. Drop the files inside it.` };
  const files = [...transfer.files].map((file) => ({ name: file.name, content: file }));
  if (files.length > 0) return checked(files);
  const text = transfer.getData('text/plain');
  return text.trim() === '' ? { kind: 'nothing' } : checked([pasted(text)]);
}

/** A pasted text as a file without an extension. */
export function pasted(text: string): NamedContent {
  return { name: 'Pasted text', content: new Blob([text]) };
}

/** The files, unless they exceed the limit of one import. */
export function checked(files: readonly NamedContent[]): Dropped {
  const bytes = files.reduce((sum, { content }) => sum + content.size, 0);
  if (bytes <= MAX_BYTES) return { kind: 'files', files };
  const size = Math.ceil(bytes / 2 ** 20);
  return {
    kind: 'refused',
    reason: `These files have ${size} MiB; the limit of one import is ${MAX_BYTES / 2 ** 20} MiB. Import them in several parts.`,
  };
}
