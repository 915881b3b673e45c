/** The files that can be imported, by ending: the type is the host's list, so that none is missing here. */
import type { TextEnding } from '../../main/api/contract/index.ts';

const endings: Readonly<Record<TextEnding, true>> = {
  '.txt': true,
  '.md': true,
  '.markdown': true,
  '.html': true,
  '.htm': true,
  '.docx': true,
  '.pdf': true,
  '.json': true,
  '.jsonl': true,
  '.ndjson': true,
};
const all: readonly string[] = [...Object.keys(endings), '.zip'];

/** For a file chooser. */
export const TEXT_FILES = all.join(',');

/** For messages. */
export const TEXT_TYPES = '.txt, .md, .html, .docx, .pdf, .json, .jsonl';

export function mayHoldTexts(name: string): boolean {
  const lower = name.toLowerCase();
  return all.some((ending) => lower.endsWith(ending)) && !/(?:^|\/)\./.test(name);
}
