/** Tables in documents that are made from the program: between a pair of comments, compared by a test. */
import { readFileSync, writeFileSync } from 'node:fs';

const markers = (name: string) => [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`] as const;

/** A Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
}

/** What stands between a table's comments; undefined if they are missing. */
export function tableIn(document: string, name: string): string | undefined {
  const [begin, end] = markers(name);
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  return from < 0 || to < from ? undefined : document.slice(from + begin.length, to).trim();
}

/** Writes a table between its comments. */
export function writeTable(file: string, name: string, table: string): void {
  const document = readFileSync(file, 'utf8');
  const [begin, end] = markers(name);
  if (tableIn(document, name) === undefined) throw new Error(`Expected "${begin}" and "${end}" in ${file}`);
  writeFileSync(file, `${document.split(begin)[0]}${begin}\n${table}\n${end}${document.split(end)[1]}`);
}
