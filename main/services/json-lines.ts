/** JSONL files that a person gave: read whole, or refused with every bad line named. */
import { inputError } from '../errors.ts';
import { jsonPlaces } from './json-places.ts';
import { type FileFault, faultsError, readTextFile } from './text-file.ts';

/** The words of a refusal. */
export interface JsonLinesWords {
  readonly code: string;
  /** What to give instead of a file that can't be read. */
  readonly give: string;
  readonly mend: string;
  /** What one line holds: "record". */
  readonly item: string;
}

/** Reads every line that isn't empty; `parse` checks its value and throws what is wrong with it. */
export function readJsonLines<T>(file: string, words: JsonLinesWords, parse: (value: unknown, line: number) => T): T[] {
  const content = readTextFile(file);
  if (content.kind === 'bad') throw faultsError(words.code, [content.fault], words.give);
  return parseJsonLines(file, content.value, words, parse);
}

/** The same for a content that was not read from a file of its own; `name` is what faults call it. */
export function parseJsonLines<T>(
  name: string,
  text: string,
  words: JsonLinesWords,
  parse: (value: unknown, line: number) => T,
): T[] {
  const faults: FileFault[] = [];
  const items: T[] = [];
  text.split('\n').forEach((row, i) => {
    if (row.trim() === '') return;
    try {
      items.push(parse(parseRow(row), i + 1));
    } catch (error) {
      faults.push({ file: name, line: i + 1, reason: (error as Error).message });
    }
  });
  if (faults.length > 0) throw faultsError(words.code, faults, words.mend);
  if (items.length === 0) throw inputError(words.code, `${name}: expected at least one ${words.item}, got none`);
  return items;
}

function parseRow(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch {
    const { fault } = jsonPlaces(row);
    throw inputError('BAD_JSON', `not JSON: ${fault?.reason ?? 'unreadable'} at column ${(fault?.offset ?? 0) + 1}`);
  }
}
