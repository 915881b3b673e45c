/** Values of parquet columns as JSON has them, and as Python prints them: decimals, dates and times are exact texts. */
import type { ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet';
import { isListLike, isMapLike } from 'hyparquet/src/schema.js';
import { parseJsonExactly } from './json.ts';
import { dateText, momentText, timeText } from './time-text.ts';

/** Reasons by column. */
export type Unreadable = ReadonlyMap<string, string>;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes that aren't UTF-8 stay bytes. */
function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes;
  }
}

/** The library makes a map's keys names of an object, which would lose this one: until then it is another text. */
const LOST = /^\0*__proto__$/;
const asRead = (text: unknown): unknown => (typeof text === 'string' && LOST.test(text) ? `\0${text}` : text);
const asWritten = (text: string): string => (LOST.test(text) && text.startsWith('\0') ? text.slice(1) : text);

/** How the library hands values over: as they are, but for texts, of which a page's dictionary has each once. */
export const parquetParsers: Partial<ParquetParsers> = {
  stringFromBytes: (bytes: Uint8Array) => bytes && asRead(textOrBytes(bytes)),
  jsonFromBytes: (bytes: Uint8Array) => {
    const text = bytes && textOrBytes(bytes);
    if (typeof text !== 'string') return text;
    try {
      return parseJsonExactly(text);
    } catch {
      return text;
    }
  },
  timestampFromNanoseconds: (nanoseconds: bigint) => nanoseconds,
};

type Read = (value: never) => unknown;

const NANOS: Readonly<Record<string, bigint>> = { MILLIS: 1_000_000n, MICROS: 1000n, NANOS: 1n };
const UNREADABLE: Readonly<Record<string, string>> = { INTERVAL: 'intervals', BSON: 'BSON' };

/** How values of an element become texts; null: the library's own way is right. */
function exactText({ type, converted_type: converted, logical_type: logical, scale }: SchemaElement): Read | null {
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const places = checkedScale(scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0));
    return (value: number | bigint | Uint8Array) =>
      decimalText(value instanceof Uint8Array ? signedInteger(value) : BigInt(value), places);
  }
  if (converted === 'DATE' || logical?.type === 'DATE') return (days: number) => dateText(days);
  const [kind, unit = logical && 'unit' in logical ? logical.unit : 'NANOS'] = (converted ?? '').split('_');
  const nanoseconds = NANOS[unit] ?? 1n;
  if (kind === 'TIME' || logical?.type === 'TIME')
    return (value: number | bigint) => timeText(BigInt(value) * nanoseconds);
  if (kind === 'TIMESTAMP' || logical?.type === 'TIMESTAMP') {
    // Without a logical type, as of old writers, times are of UTC.
    const isUtc = logical?.type === 'TIMESTAMP' ? logical.isAdjustedToUTC : true;
    return (value: number | bigint) => momentText(BigInt(value) * nanoseconds, isUtc);
  }
  if (type === 'INT96' && converted === undefined) return (value: bigint) => momentText(value, false);
  if (type === 'FLOAT') return (value: number) => shortest(value, Math.fround);
  return logical?.type === 'FLOAT16' ? (value: number) => shortest(value, Math.f16round) : null;
}

/** Far more digits than any decimal has. */
function checkedScale(scale: number): number {
  if (scale >= 0 && scale <= 1000) return scale;
  throw new Error(`expected a decimal with 0 to 1000 places, got ${scale}`);
}

/** The schema by which the library leaves values as they are where it would round them or lose their zone. */
export function rawSchema(schema: readonly SchemaElement[]): SchemaElement[] {
  return schema.map((element) => {
    const { converted_type: converted, logical_type: logical, ...plain } = element;
    if (element.type === undefined || logical?.type === 'FLOAT16') return element;
    if (UNREADABLE[converted ?? ''] !== undefined || exactText(element) !== null) return plain;
    // Old writers don't say which bytes are texts.
    return element.type === 'BYTE_ARRAY' && converted === undefined ? { ...element, converted_type: 'UTF8' } : element;
  });
}

/** Gives a column's values of a row, and says of those that can't be read why. */
export function valueReader(node: SchemaTree, unreadable: Map<string, string>) {
  const toText = node.children.length === 0 ? exactText(node.element) : null;
  const refused = UNREADABLE[node.element.converted_type ?? ''];
  const column = node.path.join('.');
  const refuse = (row: number, what: string): null => {
    if (!unreadable.has(column)) unreadable.set(column, `row ${row} has ${what}`);
    return null;
  };
  const inside = insideReader(node, unreadable);
  const losesField = node.children.some(({ element }) => element.name === '__proto__');
  return (value: unknown, row: number): unknown => {
    if (value === undefined || value === null) return null;
    if (refused !== undefined) return refuse(row, refused);
    if (losesField) return refuse(row, 'a field called "__proto__", which is lost in reading');
    // A repeated leaf has no list of its own.
    const read = (one: unknown): unknown => {
      const text = one === undefined || one === null ? null : toText === null ? one : toText(one as never);
      return ArrayBuffer.isView(text) ? refuse(row, "bytes that aren't UTF-8 text") : plain(text);
    };
    if (node.children.length === 0) return Array.isArray(value) ? value.map(read) : read(value);
    return inside(value, row);
  };
}

type RowReader = (value: unknown, row: number) => unknown;

function insideReader(node: SchemaTree, unreadable: Map<string, string>): RowReader {
  const [only] = node.children;
  if (only === undefined || node.element.logical_type?.type === 'VARIANT') return plain;
  if (isListLike(node)) {
    const read = valueReader(only.children.length === 1 ? (only.children[0] ?? only) : only, unreadable);
    return (list, row) => (Array.isArray(list) ? list.map((item) => read(item, row)) : null);
  }
  const isMap = isMapLike(node);
  const readers = (isMap ? only : node).children.map(
    (child) => [child.element.name, valueReader(child, unreadable)] as const,
  );
  const byName = new Map(readers);
  const fields: RowReader = (value, row) => {
    if (Array.isArray(value)) return value.map((item) => fields(item, row));
    const entries = Object.entries(value as object);
    return Object.fromEntries(
      entries.map(([name, field]) =>
        isMap
          ? [asWritten(name), byName.get('value')?.(field, row) ?? null]
          : [name, byName.get(name)?.(field, row) ?? null],
      ),
    );
  };
  return fields;
}

/** A 64-bit integer is a text where a number would round it; what is missing or no number is null, as for pandas. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return asWritten(value);
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? null : value > 0 ? 'inf' : '-inf';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return null;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
  return value;
}

/** Two's complement, the highest byte first. */
function signedInteger(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`));
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The shortest number of a narrower type: 0.1, not 0.10000000149011612. */
function shortest(value: number, round: (value: number) => number): number {
  if (!Number.isFinite(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (round(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}
