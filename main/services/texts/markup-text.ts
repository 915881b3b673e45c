/**
 * The text that a page of HTML shows, line by line, with its headings: Markdown and Word documents come this way too.
 * Tags are read one after the other, without a tree, so that no nesting costs more than its length.
 */
import { Parser } from 'htmlparser2';
import { inputError } from '../../errors.ts';
import type { Heading } from './headings.ts';

export interface MarkupText {
  /** Of the page's `<title>`; empty: it has none. */
  readonly title: string;
  readonly lines: readonly string[];
  readonly headings: readonly MarkupHeading[];
}

export interface MarkupHeading extends Heading {
  /** 1 to 6. */
  readonly level: number;
}

const HIDDEN: ReadonlySet<string> = new Set(
  'script style template noscript nav svg iframe object audio video canvas select datalist textarea button rt rp'.split(
    ' ',
  ),
);
/** With an empty line before and after. */
const PARAGRAPHS: ReadonlySet<string> = new Set('p h1 h2 h3 h4 h5 h6 blockquote pre table dl figure hr'.split(' '));
/** On lines of their own. */
const BLOCKS: ReadonlySet<string> = new Set(
  'html head body address article aside caption center dd details dialog dir div dt fieldset figcaption footer form header hgroup legend li main menu ol optgroup option search section summary tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
const HEADING = /^h[1-6]$/;
const CELL = /^t[dh]$/;
/** Their end may not be left out. */
const ENDED = /^(?:nav|div|section)$/;
/** A footnote's number in the text, and the way back from the note: of markdown-it, of mammoth, and by their roles. */
const FOOTNOTE = /(?:^|\s)(?:footnote-ref|footnote-backref|footnote-back|doc-noteref|doc-backlink)(?:\s|$)/;
const WORD_FOOTNOTE = /^#?(?:footnote|endnote|comment)-ref-/;

/** Tags within one another: the parser's time grows with the square of it, and no page of text has so many. */
const MAX_DEPTH = 20_000;

type Attributes = Readonly<Record<string, string>>;

/** Reads HTML, damaged or not. */
export function readMarkup(html: string): MarkupText {
  const page = openLines();
  let title = '';
  let hidden = 0;
  let unseen = '';
  let inTitle = false;
  let depth = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth++;
      if (depth > MAX_DEPTH)
        throw inputError('MARKUP_DEPTH', `has more than ${MAX_DEPTH} tags within one another; save it as plain text`);
      if (hidden > 0 || isHidden(name, attributes)) hidden++;
      else if (name === 'title') inTitle = true;
      else page.open(name);
    },
    onclosetag: (name, isImplied) => {
      depth--;
      if (hidden > 0) {
        hidden--;
        if (hidden > 0) return;
        // Of a damaged page, which never ends its navigation, everything would be lost.
        if (isImplied && ENDED.test(name)) page.write(unseen);
        unseen = '';
      } else if (name === 'title') inTitle = false;
      else page.close(name);
    },
    ontext: (text) => {
      if (hidden > 0) unseen += text;
      else if (inTitle) title += text;
      else page.write(text);
    },
  });
  parser.end(html);
  return { title: title.replace(/\s+/gu, ' ').trim(), ...page.done() };
}

function isHidden(name: string, { class: classes = '', role = '', href = '', id = '', ...rest }: Attributes): boolean {
  if (HIDDEN.has(name) || 'hidden' in rest || /display\s*:\s*none/i.test(rest.style ?? '')) return true;
  return FOOTNOTE.test(classes) || FOOTNOTE.test(role) || (name === 'a' && WORD_FOOTNOTE.test(id === '' ? href : id));
}

function openLines() {
  const lines: string[] = [];
  const headings: MarkupHeading[] = [];
  let line: string[] = [];
  // Empty lines wanted before the next text, plus one; 0: it continues the line.
  let gap = 0;
  let verbatim = 0;
  // A row's cells share a line, unless one has several: 'fresh' before its text, then the line where that starts.
  let cell: 'fresh' | number | null = null;
  let heading: { readonly level: number; readonly start: number } | null = null;

  const put = (text: string): void => {
    if (gap > 0 && lines.length > 0) for (let i = 1; i < gap && lines.at(-1) !== ''; i++) lines.push('');
    gap = 0;
    if (cell === 'fresh') cell = lines.length;
    line.push(text);
  };
  const endLine = (): void => {
    const text = line.join('');
    lines.push(verbatim > 0 ? text : text.trimEnd());
    line = [];
  };
  const end = (wanted: number): void => {
    if (cell === 'fresh') return;
    if (line.length > 0) endLine();
    gap = Math.max(gap, wanted);
  };
  const endHeading = (): void => {
    end(2);
    if (heading !== null && heading.start < lines.length) {
      const title = lines.slice(heading.start).join(' ').trim();
      if (title !== '') headings.push({ ...heading, title, end: lines.length });
    }
    heading = null;
  };
  const spacing = (name: string): number => (PARAGRAPHS.has(name) ? 2 : BLOCKS.has(name) ? 1 : 0);
  return {
    open(name: string): void {
      if (name === 'br' && (line.length > 0 || (lines.length > 0 && gap === 0))) endLine();
      if (CELL.test(name)) {
        if (line.length > 0 && line.at(-1)?.endsWith(' ') === false) line.push(' ');
        cell = 'fresh';
      }
      if (cell === 'fresh' && HEADING.test(name)) cell = null;
      if (spacing(name) > 0) end(spacing(name));
      if (name === 'pre') verbatim++;
      if (HEADING.test(name)) {
        // The empty line before it comes first: the heading starts after it.
        if (lines.length > 0 && lines.at(-1) !== '') lines.push('');
        gap = 0;
        heading = { level: Number(name[1]), start: lines.length };
      }
    },
    close(name: string): void {
      if (CELL.test(name)) {
        if (cell === lines.length - 1 && line.length === 0 && headings.at(-1)?.end !== lines.length) {
          line.push(lines.pop() ?? '');
          gap = 0;
        }
        cell = null;
      } else if (HEADING.test(name)) endHeading();
      else if (spacing(name) > 0) end(spacing(name));
      if (name === 'pre') verbatim = Math.max(0, verbatim - 1);
    },
    write(text: string): void {
      if (verbatim > 0) {
        const [first = '', ...rest] = text.split('\n');
        if (first !== '') put(first);
        for (const next of rest) {
          if (line.length > 0 || gap === 0) endLine();
          if (next !== '') put(next);
        }
        return;
      }
      const collapsed = text.replace(/[ \t\r\n\f]+/g, ' ');
      const isAfterSpace = line.length === 0 || (line.at(-1) ?? '').endsWith(' ');
      const shown = isAfterSpace && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed;
      if (shown !== '') put(shown);
    },
    done() {
      end(0);
      return { lines, headings };
    },
  };
}
