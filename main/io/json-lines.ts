/** JSONL files from the user: read completely, or rejected with a list of all invalid lines. */

import { inputError } from '../errors.ts';
import { parseRecordJson } from './json.ts';
import { jsonPlaces } from './json-places.ts';
import { ENOUGH_FAULTS, type FileFault, faultsError, readTextFile } from './text-file.ts';

/** The texts of an error. */
export interface JsonLinesWords {
  readonly code: string;
  /** The remedy for an unreadable file. */
  readonly give: string;
  readonly fix: string;
  /** The name of a line's content: "record". */
  readonly item: string;
}

/** Reads every non-empty line; `parse` checks its value and throws if it is invalid. `most`: bytes of the file. */
export function readJsonLines<T>(
  file: string,
  words: JsonLinesWords,
  parse: (value: unknown, line: number) => T,
  most?: number,
): T[] {
  const content = readTextFile(file, most);
  if (content.kind === 'bad') throw faultsError(words.code, [content.fault], words.give);
  return parseJsonLines(file, content.value, words, parse);
}

/** The same for content that isn't from a file of its own; `name` identifies it in errors, `read` reads a line. */
export function parseJsonLines<T>(
  name: string,
  text: string,
  words: JsonLinesWords,
  parse: (value: unknown, line: number) => T,
  read: (row: string) => unknown = parseRecordJson,
): T[] {
  const faults: FileFault[] = [];
  const items: T[] = [];
  for (const { row, line } of rowsOf(text)) {
    if (row.trim() === '') continue;
    if (items.length === MOST_ROWS)
      throw inputError(words.code, `${name}: expected at most ${MOST_ROWS} ${words.item}s, got more`, words.give);
    try {
      items.push(parse(parseRow(row, read), line));
    } catch (error) {
      faults.push({ file: name, line, reason: (error as Error).message });
      if (faults.length === ENOUGH_FAULTS) break;
    }
  }
  if (faults.length > 0) throw faultsError(words.code, faults, words.fix);
  if (items.length === 0) throw inputError(words.code, `${name}: expected at least one ${words.item}, got none`);
  return items;
}

/** A file of many megabytes can have so many lines that their values take gigabytes. */
const MOST_ROWS = 2_000_000;

/** One after the other: half a gigabyte of line ends would be a list of as many texts. */
function* rowsOf(text: string): Generator<{ readonly row: string; readonly line: number }> {
  let [start, line] = [0, 1];
  // A JSON text has no line break of its own, and old Macs have only carriage returns.
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
    yield { row: text.slice(start, index), line: line++ };
    start = index + end.length;
  }
  yield { row: text.slice(start), line };
}

/** In characters: far beyond any record, and a thousand of them fit into memory. */
const LONGEST_ROW = 16_000_000;

function parseRow(row: string, read: (row: string) => unknown): unknown {
  if (row.length > LONGEST_ROW)
    throw inputError('BAD_JSON', `expected at most ${LONGEST_ROW} characters on a line, got ${row.length}`);
  try {
    return read(row);
  } catch (error) {
    if (error instanceof RangeError) throw inputError('BAD_JSON', error.message);
    const { fault } = jsonPlaces(row, 'line');
    throw inputError('BAD_JSON', `not JSON: ${fault?.reason ?? 'unreadable'} at column ${(fault?.offset ?? 0) + 1}`);
  }
}
