/** Rows of any file that datasets come in: JSONL, JSON, CSV, parquet. */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { basename, extname } from 'node:path';

import { inputError } from '../../../errors.ts';
import { MOST_FIELDS, parseCsv } from '../../../io/csv-rows.ts';
import { isJsonObject, parseJson, parseJsonExactly } from '../../../io/json.ts';
import { parseJsonLines } from '../../../io/json-lines.ts';
import { jsonPlaces } from '../../../io/json-places.ts';
import { isPacked, readUnpacked, unpackedName } from '../../../io/packed-file.ts';
import { readParquet } from '../../../io/parquet.ts';
import { openRegular } from '../../../io/read-file.ts';
import { type Checked, decodeText, type FileFault, faultsError, lineOf, readTextFile } from '../../../io/text-file.ts';
import { counted } from '../../../text/format.ts';
import { recordsInJson } from './json-shapes.ts';

/** A row with its place, for messages. */
export interface Row {
  readonly file: string;
  /** Of a text file the line; of a parquet or JSON file the number of the row, from 1. */
  readonly line: number;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** What was read in another way than it is written, a sentence each. */
  readonly notes?: readonly string[];
  /** Why columns can't be read; their values are null. */
  readonly unreadable?: ReadonlyMap<string, string>;
}

export const TABLE_TYPES = ['.jsonl', '.ndjson', '.json', '.csv', '.tsv', '.parquet'] as const;

const WORDS = {
  code: 'BAD_SOURCE',
  give: `Give a file of records: ${TABLE_TYPES.join(', ')}, also packed as .gz or .zst.`,
  fix: 'Fix these lines; nothing was imported.',
  item: 'record',
};

/** Reads files one after the other; a file that can't be read is an error with its place. */
export async function readTable(files: readonly string[]): Promise<Table> {
  const rows: Row[] = [];
  const unreadable = new Map<string, string>();
  const notes: string[] = [];
  for (const file of files) for (const row of await rowsOf(file, { unreadable, notes })) rows.push(row);
  if (rows.length === 0) throw inputError('BAD_SOURCE', `${files.join(', ')}: expected at least one row, got none`);
  // A row may lack a column that others have.
  const columns = new Set<string>();
  for (const { file, line, values } of rows) {
    for (const name of Object.keys(values)) columns.add(name);
    if (columns.size > MOST_FIELDS)
      throw fail({ file, line, reason: `expected at most ${MOST_FIELDS} columns, got more` });
  }
  return { columns: [...columns], rows, unreadable, notes };
}

/** What is found out while files are read. */
interface Seen {
  readonly unreadable: Map<string, string>;
  readonly notes: string[];
}

async function rowsOf(file: string, { unreadable, notes }: Seen): Promise<Row[]> {
  const type = extname(unpackedName(file)).toLowerCase();
  switch (type) {
    case '.parquet':
      if (isPacked(file))
        throw fail({ file, line: null, reason: 'expected the parquet file itself, as it is packed already' });
      return parquetRows(file, unreadable);
    case '.csv':
      return csvRows(file, textOf(file), notes);
    case '.tsv':
      return csvRows(file, textOf(file), notes, '\t');
    case '.json':
      return jsonRows(file, withoutNaN(file, textOf(file), notes), false);
    case '.jsonl':
    case '.ndjson':
      return jsonRows(file, withoutNaN(file, textOf(file), notes), true);
    default:
      throw inputError(
        'BAD_SOURCE',
        `${file}: expected a file of records (${TABLE_TYPES.join(', ')}), got ${type === '' ? 'a name without an ending' : type}`,
      );
  }
}

function textOf(file: string): string {
  const content = isPacked(file) ? textOfPacked(file) : readTextFile(file);
  if (content.kind === 'good') return content.value.replace(/^\uFEFF/, '');
  throw faultsError(WORDS.code, [content.fault], WORDS.give);
}

function textOfPacked(file: string): Checked<string> {
  try {
    return decodeText(file, readUnpacked(file));
  } catch (error) {
    return { kind: 'bad', fault: { file, line: null, reason: (error as Error).message } };
  }
}

function rowOf(file: string, value: unknown, line: number): Row {
  if (isJsonObject(value)) return { file, line, values: value };
  throw inputError(WORDS.code, `expected an object with fields, got ${JSON.stringify(value)?.slice(0, 60)}`);
}

function fail(fault: FileFault): Error {
  return faultsError(WORDS.code, [fault], 'Fix the file; nothing was imported.');
}

/** Outside of texts, of which a damaged one lacks its end: Python's json writes numbers so that are none. */
const NOT_A_NUMBER = /"(?:[^"\\\n]|\\.?)*"?|(?<![\w.])-?(?:NaN|Infinity)(?!\w)/g;

/** JSON with null for Python's NaN and Infinity, of as many characters, so that places stay what they are. */
function withoutNaN(file: string, text: string, notes: string[]): string {
  if (!/NaN|Infinity/.test(text)) return text;
  let [count, first] = [0, 0];
  const read = text.replace(NOT_A_NUMBER, (found, offset: number) => {
    if (found.startsWith('"')) return found;
    if (count++ === 0) first = lineOf(text, offset);
    return found.length < 4 ? 'null' : 'null'.padEnd(found.length);
  });
  if (count > 0)
    notes.push(
      `${basename(file)}: ${counted(count, 'NaN or Infinity was', 'NaN or Infinity were')} read as no value, the first in line ${first}`,
    );
  return read;
}

/** One value for the whole file, or one on each line: whichever it is, whatever the file is called. */
function jsonRows(file: string, text: string, isLines: boolean): Row[] {
  const first = /\S[^\r\n]*/.exec(text)?.[0] ?? '';
  const lines = () => parseJsonLines(file, text, WORDS, (value, line) => rowOf(file, value, line), parseJsonExactly);
  if (isLines && !first.startsWith('[') && isJson(first)) return lines();
  let value: unknown;
  try {
    value = parseJsonExactly(text);
  } catch (error) {
    if (isLines && /^[[{]\s*$/.test(first))
      throw fail({ file, line: 1, reason: 'expected an object on each line, got one that takes several lines' });
    if (isLines || (first.startsWith('{') && isJson(first))) return lines();
    const { fault } = jsonPlaces(text);
    const line = fault === null ? null : lineOf(text, fault.offset);
    throw fail({ file, line, reason: `not JSON: ${fault?.reason ?? (error as Error).message}` });
  }
  const found = recordsInJson(value);
  if ('fault' in found) throw fail({ file, line: null, reason: found.fault });
  return found.items.map((item, i) => {
    try {
      return rowOf(file, item, i + 1);
    } catch (error) {
      throw fail({ file, line: i + 1, reason: (error as Error).message });
    }
  });
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

function csvRows(file: string, text: string, notes: string[], separator?: string): Row[] {
  let parsed: ReturnType<typeof parseCsv>;
  try {
    parsed = parseCsv(text, separator);
  } catch (error) {
    throw fail({ file, line: null, reason: (error as Error).message });
  }
  // Spreadsheets write separators for the cells of empty rows.
  const [head, ...body] = parsed.filter(({ fields }) => fields.some((field) => field !== ''));
  const columns = head?.fields.map((name) => name.trim()) ?? [];
  const line = head?.line ?? 1;
  const seen = new Set<string>();
  for (const name of columns) {
    // One of them would be lost. Spreadsheets write nameless columns, which nothing can be mapped to.
    if (name !== '' && seen.has(name))
      throw fail({ file, line, reason: `expected each column once, got "${name}" twice` });
    seen.add(name);
  }
  const faults = body.flatMap(({ line, fields }): FileFault[] =>
    fields.slice(columns.length).every((field) => field === '')
      ? []
      : [{ file, line, reason: `expected ${columns.length} fields as in the first line, got ${fields.length}` }],
  );
  if (faults.length > 0) throw faultsError(WORDS.code, faults, WORDS.fix);
  const mixed = body.filter(({ isMixed }) => isMixed);
  if (mixed[0] !== undefined)
    notes.push(
      `${basename(file)}: ${counted(mixed.length, 'row has', 'rows have')} text after the closing quotation mark of a field, first on line ${mixed[0].line}; inside a field, quotation marks are written twice ("")`,
    );
  return body.map(({ line, fields }) => ({
    file,
    line,
    values: Object.fromEntries(columns.map((name, i) => [name, fields[i] ?? ''])),
  }));
}

async function parquetRows(file: string, unreadable: Map<string, string>): Promise<Row[]> {
  let descriptor: number;
  try {
    descriptor = openRegular(file);
  } catch (error) {
    throw fail({ file, line: null, reason: (error as Error).message });
  }
  try {
    const { size } = fstatSync(descriptor);
    const slice = (from: number, to = size): ArrayBuffer => {
      const bytes = new Uint8Array(to - from);
      readSync(descriptor, bytes, 0, bytes.length, from);
      return bytes.buffer;
    };
    const table = await readParquet({ byteLength: size, slice });
    for (const [column, reason] of table.unreadable) unreadable.set(column, `${file}, ${reason}`);
    return table.rows.map((values, i) => ({ file, line: i + 1, values }));
  } catch (error) {
    throw fail({
      file,
      line: null,
      reason: `it can't be read as parquet: ${(error as Error).message}`,
    });
  } finally {
    closeSync(descriptor);
  }
}
