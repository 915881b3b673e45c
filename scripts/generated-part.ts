/** Parts of documents that are generated, each between a pair of comments. */
import { readFileSync, writeFileSync } from 'node:fs';

const markers = (name: string) => [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`] as const;

/** What is between a part's comments; undefined if they are missing. */
export function partIn(document: string, name: string): string | undefined {
  const [begin, end] = markers(name);
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  return from < 0 || to < from ? undefined : document.slice(from + begin.length, to).trim();
}

/** Writes a part between its comments. */
export function writePart(file: string, name: string, part: string): void {
  const document = readFileSync(file, 'utf8');
  const [begin, end] = markers(name);
  if (partIn(document, name) === undefined) throw new Error(`Expected "${begin}" and "${end}" in ${file}`);
  writeFileSync(file, `${document.split(begin)[0]}${begin}\n${part}\n${end}${document.split(end)[1]}`);
}
