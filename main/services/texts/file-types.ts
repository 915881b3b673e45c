/** The files that texts are imported from: the one list, which folders, archives, dialogs and messages go by. */
import { extname } from 'node:path';

export const textEndings = [
  ...(['.txt', '.md', '.markdown', '.html', '.htm', '.docx', '.pdf'] as const),
  ...(['.json', '.jsonl', '.ndjson'] as const),
] as const;
export type TextEnding = (typeof textEndings)[number];

/** For messages: each kind once. */
export const TEXT_TYPES = '.txt, .md, .html, .docx, .pdf, .json or .jsonl';

export function isTextEnding(ending: string): ending is TextEnding {
  return (textEndings as readonly string[]).includes(ending);
}

const WORD = 'save it as .docx or .txt';
/** What people try to import, and what to do instead. */
const OTHERS: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  '.doc': ['an old Word document', WORD],
  '.docm': ['a Word document with macros', WORD],
  '.dot': ['a Word template', WORD],
  '.dotx': ['a Word template', WORD],
  '.rtf': ['an RTF document', WORD],
  '.odt': ['an OpenDocument text', WORD],
  '.pages': ['a Pages document', 'export it as Word (.docx) or plain text'],
  '.wps': ['a Works document', WORD],
  '.epub': ['an e-book', 'convert it to .txt, .html or .docx, in Calibre for example'],
  '.mobi': ['an e-book', 'convert it to .txt, .html or .docx, in Calibre for example'],
  '.azw3': ['an e-book', 'convert it to .txt, .html or .docx, in Calibre for example'],
  '.mht': ['a web archive', 'save the page as .html, "HTML only"'],
  '.mhtml': ['a web archive', 'save the page as .html, "HTML only"'],
  '.webarchive': ['a web archive', 'save the page as .html, "page source"'],
  '.tex': ['a LaTeX source', 'convert it to .md or .txt, with pandoc for example'],
  '.rst': ['reStructuredText', 'convert it to .md or .txt, with pandoc for example'],
  '.csv': ['a table', 'import it as a dataset, or save the column with the texts as .jsonl'],
  '.tsv': ['a table', 'import it as a dataset, or save the column with the texts as .jsonl'],
  '.parquet': ['a table', 'import it as a dataset, or save the column with the texts as .jsonl'],
  '.xlsx': ['a spreadsheet', 'save the column with the texts as .txt'],
  '.pptx': ['a presentation', 'save its outline as .docx or .txt'],
  '.rar': ['an archive', 'unpack it, or pack it as .zip'],
  '.7z': ['an archive', 'unpack it, or pack it as .zip'],
  '.gz': ['an archive', 'unpack it, or pack it as .zip'],
  '.tar': ['an archive', 'unpack it, or pack it as .zip'],
};

/** What to do with a file of a known kind that isn't read; null: it is read, or of no known kind. */
export function otherType(file: string): string | null {
  const ending = extname(file).toLowerCase();
  if (!Object.hasOwn(OTHERS, ending)) return null;
  const [what, remedy] = OTHERS[ending] ?? [];
  return `can't read ${what} (${ending}); ${remedy}`;
}

/** Why a file of another kind isn't read. */
export function typeFault(file: string): string {
  return otherType(file) ?? `expected a ${TEXT_TYPES} file, got "${extname(file).toLowerCase()}"`;
}
