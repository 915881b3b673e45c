/** Splits a manuscript at its headings. Pure; every word of the text is in a piece or in the title of one. */
import { beginning } from '../../text/beginning.ts';
import { countSourceWords } from '../../text/source-words.ts';

/** What counts as a heading; `markdown-2`: Markdown headings of the levels 1 and 2. */
export const headingRules = ['markdown-1', 'markdown-2', 'markdown-3', 'chapters', 'capitals', 'lines'] as const;
export type HeadingRule = (typeof headingRules)[number];

export interface Piece {
  /** The heading; null for what comes before the first one. */
  readonly heading: string | null;
  readonly text: string;
  readonly words: number;
}

/** A heading and its place among the lines of a text. */
export interface Heading {
  readonly title: string;
  /** The lines of the heading: `end` is the first after it. */
  readonly start: number;
  readonly end: number;
}

/** Pieces with fewer words are added to their neighbours: a title page or a line of a table of contents is no text. */
export const SHORTEST_PIECE = 20;

/** The title of a piece: "The river: Chapter 3". */
export function pieceTitle(title: string, heading: string | null): string {
  return `${beginning(title, 60).trimEnd()}: ${heading ?? 'beginning'}`;
}

/** The number of headings by each rule. */
export function countHeadings(text: string): Readonly<Record<HeadingRule, number>> {
  const lines = linesOf(text);
  const counts = headingRules.map((rule) => [rule, headingsOf(lines, rule).length] as const);
  // Every rule is in the list above.
  return Object.fromEntries(counts) as Record<HeadingRule, number>;
}

/** The first of these rules by which a text has at least two headings; null if there is none. */
export function fittingRule(text: string, rules: readonly HeadingRule[] = headingRules): HeadingRule | null {
  const lines = linesOf(text);
  return rules.find((rule) => headingsOf(lines, rule).length > 1) ?? null;
}

/**
 * The pieces between headings. One with fewer words than `minWords` is added to the next one (the last to the one
 * before), with its heading as a line of the text.
 */
export function splitAtHeadings(text: string, rule: HeadingRule, minWords: number): Piece[] {
  const lines = linesOf(text);
  return splitAt(lines, headingsOf(lines, rule), minWords);
}

/** The same for headings that are known. */
export function splitAt(lines: readonly string[], headings: readonly Heading[], minWords: number): Piece[] {
  const starts: readonly (Heading | null)[] = [null, ...headings];
  const pieces: Piece[] = [];
  let carried: string[] = [];
  starts.forEach((heading, i) => {
    const body = lines
      .slice(heading?.end ?? 0, starts[i + 1]?.start ?? lines.length)
      .join('\n')
      .trim();
    const isShort = countSourceWords(body) < minWords;
    if (isShort) {
      carried.push(...(heading === null ? [] : [heading.title]), ...(body === '' ? [] : [body]));
      return;
    }
    pieces.push(pieceOf(heading?.title ?? null, [...carried, body]));
    carried = [];
  });
  if (carried.length === 0) return pieces;
  const last = pieces.pop();
  return [...pieces, pieceOf(last?.heading ?? null, [...(last === undefined ? [] : [last.text]), ...carried])];
}

function pieceOf(heading: string | null, parts: readonly string[]): Piece {
  const text = parts.join('\n\n');
  return { heading, text, words: countSourceWords(text) };
}

function linesOf(text: string): string[] {
  return text.replace(/\r\n?/g, '\n').split('\n');
}

function headingsOf(lines: readonly string[], rule: HeadingRule): Heading[] {
  switch (rule) {
    case 'markdown-1':
      return markdownHeadings(lines, 1);
    case 'markdown-2':
      return markdownHeadings(lines, 2);
    case 'markdown-3':
      return markdownHeadings(lines, 3);
    case 'chapters':
      return loneLines(lines, (line) => CHAPTER.test(line) || ORDINAL_CHAPTER.test(line) || PART_NAME.test(line));
    case 'capitals':
      return loneLines(lines, isCapitals);
    case 'lines':
      return loneLines(lines, isTitleLike);
  }
}

const MARK = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;

/** Marked with number signs, or underlined; not in code. */
function markdownHeadings(lines: readonly string[], level: number): Heading[] {
  const found: Heading[] = [];
  let inCode = false;
  for (const [i, line] of lines.entries()) {
    if (FENCE.test(line)) inCode = !inCode;
    if (inCode) continue;
    const [, marks, title] = MARK.exec(line) ?? [];
    if (marks !== undefined && title !== undefined) {
      if (marks.length <= level) found.push({ title: withoutEnd(title), start: i, end: i + 1 });
      continue;
    }
    const underline = lines[i + 1] ?? '';
    if (/^\S/.test(line) && (/^={2,}[ \t]*$/.test(underline) || (level > 1 && /^-{3,}[ \t]*$/.test(underline))))
      found.push({ title: line.trim(), start: i, end: i + 2 });
  }
  return found;
}

/** `Title ##` ends its marks after a space. */
function withoutEnd(title: string): string {
  const trimmed = title.trimEnd();
  let end = trimmed.length;
  while (trimmed[end - 1] === '#') end--;
  return end < trimmed.length && /\s/.test(trimmed[end - 1] ?? ' ') ? trimmed.slice(0, end).trimEnd() : trimmed;
}

const LONGEST = 80;

/** Single lines between blank ones. */
function loneLines(lines: readonly string[], isHeading: (line: string) => boolean): Heading[] {
  return lines.flatMap((line, i) => {
    const title = line.trim();
    const alone = (lines[i - 1] ?? '').trim() === '' && (lines[i + 1] ?? '').trim() === '';
    return title !== '' && title.length <= LONGEST && alone && isHeading(title)
      ? [{ title, start: i, end: i + 1 }]
      : [];
  });
}

const WORD =
  'chapter|part|book|section|act|scene|canto|kapitel|teil|buch|abschnitt|chapitre|partie|livre|cap[ií]tulo|parte|libro|capitolo|hoofdstuk|deel';
/** "Chapter 3", "PART TWO: The river", "IV.", "12". */
const CHAPTER = new RegExp(`^(?:(?:${WORD})\\s+[\\p{L}\\d]+|[IVXLC]+\\.?$|\\d{1,3}\\.?$)(?![\\p{L}\\d])`, 'iu');
/** "Erstes Kapitel", "The third part". */
const ORDINAL_CHAPTER = new RegExp(`^(?:the\\s+)?(?!the\\s)\\p{L}+\\s+(?:${WORD})$`, 'iu');
const PART_NAME =
  /^(?:prologue|epilogue|introduction|preface|foreword|afterword|conclusion|prolog|epilog|vorwort|nachwort|einleitung)$/iu;

function isCapitals(line: string): boolean {
  return /\p{Lu}.*\p{Lu}/u.test(line) && !/\p{Ll}/u.test(line);
}

const TITLE_WORDS = 10;

/** Starts like a title and doesn't end like a sentence. */
function isTitleLike(line: string): boolean {
  return countSourceWords(line) <= TITLE_WORDS && /^[\p{Lu}\p{Lo}\d]/u.test(line) && !/[.,;:…!"”»—–-]$/u.test(line);
}
