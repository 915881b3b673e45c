/** Markdown as plain prose, without markup, in linear time: files may come from anywhere. */

/** The text of a Markdown file: its first heading, if any, and the rest as plain text. */
export interface MarkdownText {
  readonly title: string | undefined;
  readonly text: string;
}

const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;
const HEADING_MARK = /^ {0,3}#{1,6}[ \t]+/;
const UNDERLINE = /^ {0,3}(?:=+|-{3,})[ \t]*$/;

/** Uses the first heading as the title. */
export function readMarkdown(markdown: string): MarkdownText {
  const lines = markdown.replace(FRONT_MATTER, '').replace(/\r\n?/g, '\n').split('\n');
  for (const [i, line] of lines.entries()) {
    const underlined = /^\S/.test(line) && UNDERLINE.test(lines[i + 1] ?? '');
    const marked = HEADING_MARK.test(line);
    if (!marked && !underlined) continue;
    const title = plainText(marked ? headingText(line) : line);
    if (title === '') continue;
    lines.splice(i, marked ? 1 : 2, '');
    return { title, text: plainText(lines.join('\n')) };
  }
  return { title: undefined, text: plainText(lines.join('\n')) };
}

/** A heading without its markup; closing marks come after a space. */
function headingText(line: string): string {
  const text = line.replace(HEADING_MARK, '').trimEnd();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  const isClosed = end === 0 || /\s/.test(text[end - 1] ?? '');
  return isClosed ? text.slice(0, end).trimEnd() : text;
}

/** Each of these reads a character at most a few times: none can backtrack into another part. */
const LINE_MARKS: readonly (readonly [RegExp, string])[] = [
  [/^ {0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$/gm, ''],
  [/^ {0,3}#{1,6}[ \t]+/gm, ''],
  [/^[ \t]*(?:>[ \t]?)+/gm, ''],
  [/^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+/gm, ''],
];
const WORD_MARKS: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w*])\*(?=\S)([^*\n]*?\S)\*(?![\w*])/g, '$1'],
  [/(?<!\w)_(?=\S)([^_\n]*?\S)_(?!\w)/g, '$1'],
  [/`([^`\n]+)`/g, '$1'],
  [/\n{3,}/g, '\n\n'],
];

/** Headings, lists, quotations, links and emphasis without their markup. */
export function plainText(markdown: string): string {
  const prose = withoutComments(markdown.replace(/\r\n?/g, '\n').replace(/^ {0,3}(?:`{3,}|~{3,}).*$/gm, ''));
  const unlinked = withoutLinks(withoutLinks(prose, '!['), '[');
  const lines = withoutMarks(unlinked, LINE_MARKS).split('\n').map(withoutStrong);
  return withoutMarks(lines.join('\n'), WORD_MARKS).trim();
}

function withoutMarks(text: string, marks: typeof LINE_MARKS): string {
  return marks.reduce((rest, [mark, by]) => rest.replace(mark, by), text);
}

function withoutComments(text: string): string {
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('<!--', at);
    const end = start < 0 ? -1 : text.indexOf('-->', start + 4);
    if (end < 0) return kept.join('') + text.slice(at);
    kept.push(text.slice(at, start));
    at = end + 3;
  }
}

/** The next position of a mark; for increasing positions, the text is searched once. */
function finder(text: string, mark: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found < from) found = text.indexOf(mark, from);
    if (found < 0) found = Number.POSITIVE_INFINITY;
    return found;
  };
}

/** `[text](address)` becomes its text, `![text](address)` nothing. */
function withoutLinks(text: string, opening: '[' | '!['): string {
  const [open, close, end] = [finder(text, opening), finder(text, ']'), finder(text, ')')];
  const kept: string[] = [];
  let at = 0;
  for (let start = open(0); start < text.length; ) {
    const inner = start + opening.length;
    const closing = close(inner);
    const ending = text[closing + 1] === '(' ? end(closing + 2) : Number.POSITIVE_INFINITY;
    const isLink = ending < text.length && (opening === '![' || closing > inner);
    if (isLink) {
      kept.push(text.slice(at, start), opening === '[' ? text.slice(inner, closing) : '');
      at = ending + 1;
    }
    start = open(isLink ? at : start + 1);
  }
  return kept.join('') + text.slice(at);
}

/** A line without the marks of `**strong**` and `__strong__` parts, which start before and end after a character. */
function withoutStrong(line: string): string {
  if (!line.includes('**') && !line.includes('__')) return line;
  const ends = { '**': strongEnds(line, '**'), __: strongEnds(line, '__') };
  const kept: string[] = [];
  let at = 0;
  for (let i = 0; i < line.length - 4; i++) {
    const mark = line.startsWith('**', i) ? '**' : line.startsWith('__', i) ? '__' : null;
    if (mark === null || /\s/.test(line[i + 2] ?? ' ')) continue;
    const end = ends[mark](i + 3);
    if (end === undefined) continue;
    kept.push(line.slice(at, i), line.slice(i + 2, end));
    at = end + 2;
    i = at - 1;
  }
  return kept.join('') + line.slice(at);
}

/** The first position from a given one where such a mark may end; call with increasing positions. */
function strongEnds(line: string, mark: string): (from: number) => number | undefined {
  let at = 0;
  return (from) => {
    at = Math.max(at, from);
    while (at < line.length && !(line.startsWith(mark, at) && /\S/.test(line[at - 1] ?? ''))) at++;
    return at < line.length ? at : undefined;
  };
}
