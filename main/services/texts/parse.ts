/** Source texts from a file's content: JSON in three shapes, JSONL, prose, Markdown, HTML and chat exports. */

import { basename, extname } from 'node:path';
import { BraidError } from '../../errors.ts';
import { isJsonObject, parseJson } from '../../io/json.ts';
import { jsonPlaces } from '../../io/json-places.ts';
import { type FileFault, lineOf } from '../../io/text-file.ts';
import { beginning } from '../../text/beginning.ts';
import { oneForm } from '../../text/one-form.ts';
import { countWords } from '../../text/words.ts';
import { isChatExport, readChatExport } from './chat-export.ts';
import { typeFault } from './file-types.ts';
import { fittingRule, type Piece, pieceTitle, SHORTEST_PIECE, splitAt, splitAtHeadings } from './headings.ts';
import { LONGEST_TEXT } from './limits.ts';
import { readMarkdown } from './markdown.ts';
import { type MarkupText, readMarkup } from './markup-text.ts';
import { type SourceText, slug, titleOf } from './source-text.ts';

/** The result for a file: texts, and errors. */
export interface ParsedFile {
  readonly texts: readonly SourceText[];
  readonly faults: readonly FileFault[];
  /** Whether it is a chat export: the assistant's answers are its texts. */
  readonly isChat: boolean;
}

export interface ParseOptions {
  /** In a chat export, only answers with at least this many words become texts. */
  readonly minWords?: number | undefined;
  /** Splits prose, Markdown and documents at their headings, if they have several. */
  readonly splitAtHeadings?: boolean | undefined;
}

const CHAT_MIN_WORDS = 50;

/** A parsed text before ids and titles are assigned. */
interface Draft {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly text: string;
  readonly source?: string | undefined;
}

/** Collects the texts and faults of one file. */
interface Collector {
  text(draft: Draft, line: number): void;
  fault(reason: string, line: number | null): void;
  chat(): void;
  readonly minWords: number;
  readonly splitsHeadings: boolean;
}

/** Parses a file by its extension. */
export function parseTexts(file: string, content: string, options: ParseOptions = {}): ParsedFile {
  const texts: SourceText[] = [];
  const faults: FileFault[] = [];
  let isChat = false;
  const collector: Collector = {
    minWords: options.minWords ?? CHAT_MIN_WORDS,
    splitsHeadings: options.splitAtHeadings ?? false,
    chat: () => {
      isChat = true;
    },
    fault: (reason, line) => void faults.push({ file, line, reason }),
    text: (draft, line) => {
      const reason = textFault(draft.text) ?? nameFault(draft);
      if (reason === null) texts.push(settled({ ...draft, text: oneForm(draft.text) }, file));
      else faults.push({ file, line, reason });
    },
  };
  if (content.trim() === '') collector.fault('expected texts, got an empty file', null);
  else
    try {
      parseBy(extname(file).toLowerCase(), content, file, collector);
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      collector.fault(error.message, null);
    }
  if (texts.length === 0 && faults.length === 0) collector.fault('expected at least one text, got none', null);
  return { texts, faults, isChat };
}

/** The content of a .docx file is its HTML by now, that of a .pdf file its text (documents.ts). */
function parseBy(extension: string, content: string, file: string, collector: Collector): void {
  const stem = basename(file, extname(file));
  if (extension === '.json') parseJsonFile(content, collector);
  else if (extension === '.jsonl' || extension === '.ndjson') parseJsonLines(content, collector);
  else if (extension === '.txt' || extension === '.pdf') addProse(stem, content, collector);
  else if (extension === '.md' || extension === '.markdown') addMarkup(stem, readMarkdown(content), collector);
  else if (extension === '.html' || extension === '.htm' || extension === '.docx')
    addMarkup(stem, readMarkup(content), collector);
  else collector.fault(typeFault(file), null);
}

function addProse(title: string, content: string, collector: Collector): void {
  const rule = collector.splitsHeadings ? fittingRule(content, ['chapters', 'capitals']) : null;
  if (rule === null) collector.text({ title, text: content.trim() }, 1);
  else addPieces(title, splitAtHeadings(content, rule, SHORTEST_PIECE), collector);
}

/** The page's title or the first heading, which isn't repeated in the text, or else the file's name is the title. */
function addMarkup(stem: string, page: MarkupText, collector: Collector): void {
  const { lines, headings } = page;
  const [first] = headings;
  const title = page.title === '' ? (first?.title ?? stem) : page.title;
  const pieces = collector.splitsHeadings ? piecesOf(page) : null;
  if (pieces !== null) {
    addPieces(title, pieces, collector);
    return;
  }
  const isTitle = first !== undefined && title.includes(first.title);
  const kept = isTitle ? lines.toSpliced(first.start, first.end - first.start) : lines;
  collector.text(
    {
      title,
      text: kept
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
        .trim(),
    },
    1,
  );
}

/** Split at the first level that occurs twice, with those above it, or else at lines such as "Chapter 1". */
function piecesOf({ lines, headings }: MarkupText): readonly Piece[] | null {
  const levels = [1, 2, 3].map((most) => headings.filter(({ level }) => level <= most));
  const fitting = levels.find((some) => some.length > 1);
  if (fitting !== undefined) return splitAt(lines, fitting, SHORTEST_PIECE);
  const text = lines.join('\n');
  return fittingRule(text, ['chapters']) === null ? null : splitAtHeadings(text, 'chapters', SHORTEST_PIECE);
}

function addPieces(title: string, pieces: readonly Piece[], collector: Collector): void {
  for (const { heading, text } of pieces) collector.text({ title: pieceTitle(title, heading), text: text.trim() }, 1);
}

/** Why something can't be a text; null: it can. */
export function textFault(text: string): string | null {
  if (text.length > LONGEST_TEXT)
    return `expected a text of at most ${LONGEST_TEXT} characters, got ${text.length}; split it`;
  if (text.includes('\0')) return 'expected a text without NUL characters';
  if (countWords(text) === 0) return 'expected a text with words, got an empty one';
  return text.isWellFormed() ? null : 'expected valid Unicode, got a lone surrogate';
}

function nameFault({ id, title, source }: Draft): string | null {
  return [id, title, source].some((name) => name?.includes('\0')) ? 'expected names without NUL characters' : null;
}

function settled({ id, title, text, source }: Draft, file: string): SourceText {
  const name = titleOf(title === undefined ? undefined : oneForm(title), text);
  return { id: id ?? slug(name), title: name, text, source: source ?? basename(file) };
}

function parseJsonFile(content: string, collector: Collector): void {
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    const { fault } = jsonPlaces(content);
    collector.fault(
      `not JSON: ${fault?.reason ?? 'unreadable'}`,
      fault === null ? null : lineOf(content, fault.offset),
    );
    return;
  }
  readValue(value, content, collector);
}

function readValue(value: unknown, content: string, collector: Collector): void {
  let places: readonly number[] | undefined;
  const line = (item: number): number => {
    places ??= jsonPlaces(content).items;
    return lineOf(content, places[item] ?? 0);
  };
  if (isChatExport(value)) readChats(value, collector, null);
  else if (Array.isArray(value)) readList(value, line, collector);
  else if (!isJsonObject(value)) collector.fault(`expected a list of texts or {title: text}, got ${shown(value)}`, 1);
  else if (typeof value.text === 'string' && !Object.values(value).some(isJsonObject))
    readItem(value, () => 1, collector);
  else if (Array.isArray(value.texts)) readList(value.texts, () => 1, collector);
  else Object.entries(value).forEach(([title, text], i) => void readEntry(title, text, () => line(i), collector));
}

function readList(items: readonly unknown[], line: (item: number) => number, collector: Collector): void {
  if (items.length === 0) collector.fault('expected at least one text, got an empty list', 1);
  items.forEach((item, i) => void readItem(item, () => line(i), collector));
}

/** One text of a list: a string, or an object with a "text". Line numbers are computed only for errors. */
function readItem(item: unknown, line: () => number, collector: Collector): void {
  if (typeof item === 'string') add({ text: item }, line, collector);
  else if (!isJsonObject(item))
    collector.fault(`expected a text or an object with a "text", got ${shown(item)}`, line());
  else if (typeof item.text !== 'string')
    collector.fault(`expected "text" to be a string, got ${shown(item.text)}`, line());
  else if (fieldFault(item) !== null) collector.fault(fieldFault(item) ?? '', line());
  else add({ ...strings(item), text: item.text }, line, collector);
}

function readEntry(title: string, text: unknown, line: () => number, collector: Collector): void {
  if (typeof text === 'string') add({ title, text }, line, collector);
  else if (isJsonObject(text) && typeof text.text === 'string') readItem({ title, ...text }, line, collector);
  else collector.fault(`expected the text of "${title}" to be a string, got ${shown(text)}`, line());
}

function add(draft: Draft, line: () => number, collector: Collector): void {
  collector.text(draft, textFault(draft.text) === null ? 0 : line());
}

/** Ids may be numbers in other tools' files; titles and sources are strings or omitted. */
function fieldFault(item: Readonly<Record<string, unknown>>): string | null {
  for (const name of ['title', 'source'])
    if (item[name] !== undefined && item[name] !== null && typeof item[name] !== 'string')
      return `expected "${name}" to be a string, got ${shown(item[name])}`;
  const { id } = item;
  return id === undefined || id === null || typeof id === 'string' || typeof id === 'number'
    ? null
    : `expected "id" to be a string, got ${shown(id)}`;
}

function strings(item: Readonly<Record<string, unknown>>): Omit<Draft, 'text'> {
  const text = (name: string): string | undefined => {
    const value = item[name];
    return value === undefined || value === null || value === '' ? undefined : String(value);
  };
  return { id: text('id'), title: text('title'), source: text('source') };
}

/** What short conversations are for. */
export const OF_RECORDS = 'conversations to train on are imported for the task "conversation"';

function readChats(value: unknown, collector: Collector, line: number | null): void {
  collector.chat();
  const { texts, answers } = readChatExport(value, collector.minWords);
  for (const draft of texts) collector.text(draft, line ?? 1);
  if (texts.length === 0)
    collector.fault(
      `expected an assistant message of at least ${collector.minWords} words, got ${answers} shorter ones; ${OF_RECORDS}`,
      line,
    );
}

function parseJsonLines(content: string, collector: Collector): void {
  content.split('\n').forEach((row, i) => {
    if (row.trim() === '') return;
    let value: unknown;
    try {
      value = parseJson(row);
    } catch {
      const { fault } = jsonPlaces(row, 'line');
      collector.fault(`not JSON: ${fault?.reason ?? 'unreadable'} at column ${(fault?.offset ?? 0) + 1}`, i + 1);
      return;
    }
    if (isChatExport(value)) readChats(value, collector, i + 1);
    else readItem(value, () => i + 1, collector);
  });
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value);
  return json.length > 60 ? `${beginning(json, 60)}…` : json;
}
