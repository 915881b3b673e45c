/** Markdown as plain prose: marks go, words stay. */

/** What a Markdown file says: its first heading, if any, and the rest as plain text. */
export interface MarkdownText {
  readonly title: string | undefined;
  readonly text: string;
}

const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;
const FIRST_HEADING = /^(?: {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*|(\S.*)\r?\n {0,3}(?:=+|-{3,})[ \t]*)$/m;

/** Takes the first heading as the title. */
export function readMarkdown(markdown: string): MarkdownText {
  const body = markdown.replace(FRONT_MATTER, '');
  const heading = FIRST_HEADING.exec(body);
  if (heading === null) return { title: undefined, text: plainText(body) };
  const rest = body.slice(0, heading.index) + body.slice(heading.index + heading[0].length);
  return { title: plainText(heading[1] ?? heading[2] ?? ''), text: plainText(rest) };
}

const MARKS: readonly (readonly [RegExp, string])[] = [
  [/^ {0,3}(?:`{3,}|~{3,}).*$/gm, ''],
  [/<!--[\s\S]*?-->/g, ''],
  [/!\[[^\]]*\]\([^)]*\)/g, ''],
  [/\[([^\]]+)\]\([^)]*\)/g, '$1'],
  [/^ {0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$/gm, ''],
  [/^ {0,3}#{1,6}[ \t]+/gm, ''],
  [/^[ \t]*(?:>[ \t]?)+/gm, ''],
  [/^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+/gm, ''],
  [/(\*\*|__)(?=\S)([^\n]*?\S)\1/g, '$2'],
  [/(?<![\w*])\*(?=\S)([^*\n]*?\S)\*(?![\w*])/g, '$1'],
  [/(?<!\w)_(?=\S)([^_\n]*?\S)_(?!\w)/g, '$1'],
  [/`([^`\n]+)`/g, '$1'],
  [/\n{3,}/g, '\n\n'],
];

/** Headings, lists, quotations, links and emphasis without their marks. */
export function plainText(markdown: string): string {
  return MARKS.reduce((text, [mark, by]) => text.replace(mark, by), markdown.replace(/\r\n?/g, '\n')).trim();
}
