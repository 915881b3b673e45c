/**
 * What a parquet file says of its sizes, held against the file before anything of those sizes is made: a damaged or
 * hostile one may claim billions of values. The library believes it.
 */
import type { AsyncBuffer, ColumnMetaData, Compressors, FileMetaData, PageHeader, SchemaTree } from 'hyparquet';
import { parquetSchema } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel, getTreePath, isFlatColumn } from 'hyparquet/src/schema.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import { checkThrift } from './parquet-thrift.ts';

const MOST_COLUMNS = 16_384;

/** A record has at least a byte; columns compress further, lists of equal items the most. */
const rowsIn = (bytes: number): number => 100_000 + bytes;
const valuesIn = (bytes: number): number => 1_000_000 + 16 * bytes;
const unpackedIn = (bytes: number): number => 2 ** 26 + 50 * bytes;

/** Throws where the footer, which is read whole, claims more than it has. */
export async function checkFooter(file: AsyncBuffer | ArrayBuffer): Promise<void> {
  const { byteLength: size } = file;
  const end = new DataView(await file.slice(Math.max(0, size - 8), size));
  // Anything but a parquet file is refused as such.
  if (size < 12 || end.getUint32(4, true) !== PAR1) return;
  const length = end.getUint32(0, true);
  if (length <= size - 8) checkThrift(new DataView(await file.slice(size - 8 - length, size - 8)), 0);
}

const PAR1 = 0x31524150;

/** Throws where a file claims more than it can have. */
export async function checkChunks(
  file: AsyncBuffer | ArrayBuffer,
  metadata: FileMetaData,
  compressors: Compressors,
): Promise<void> {
  const { byteLength: size } = file;
  expectAtMost(metadata.schema.length, MOST_COLUMNS, 'columns');
  const tree = parquetSchema(metadata);
  expectUnique(tree.children.map(({ element }) => element.name));
  const left = { rows: rowsIn(size), values: valuesIn(size), unpacked: unpackedIn(size), bytes: size };
  const take = (what: keyof typeof left, count: number): void => {
    expectAtMost(count, left[what], WORDS[what]);
    left[what] -= count;
  };
  for (const { columns, num_rows } of metadata.row_groups) {
    const rows = Number(num_rows);
    take('rows', rows);
    for (const { meta_data: column } of columns) {
      if (column === undefined) throw new Error('parquet column without metadata');
      if (column.codec !== 'UNCOMPRESSED' && compressors[column.codec] === undefined)
        throw new Error(
          `parquet compressed by ${column.codec}, which Braid doesn't unpack: write it with zstd or snappy`,
        );
      const [start, length] = [
        Number(column.dictionary_page_offset || column.data_page_offset),
        Number(column.total_compressed_size),
      ];
      take('bytes', length);
      take('values', Number(column.num_values));
      if (start < 0 || start + length > size) throw new Error('parquet column beyond the end of the file');
      const path = getTreePath(tree, column.path_in_schema);
      const bytes = new Uint8Array(await file.slice(start, start + length));
      const found = checkPages(bytes, column, path, compressors, (unpacked) => take('unpacked', unpacked));
      if (isFlatColumn(path) && found !== rows)
        throw new Error(`parquet column ${column.path_in_schema.join('.')} has ${found} of ${rows} values`);
    }
  }
}

const WORDS = { rows: 'rows', values: 'values', unpacked: 'unpacked bytes', bytes: 'bytes of columns' };

function expectAtMost(count: number, most: number, what: string): void {
  if (count >= 0 && count <= most) return;
  if (Number.isNaN(count)) throw new Error(`parquet file without its number of ${what}`);
  throw new Error(`parquet file claims ${count} ${what}, of at most ${most} in a file of its size`);
}

function expectUnique(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new Error(`parquet file has two columns "${name}"`);
    seen.add(name);
  }
}

/** Checks a column's pages; gives how many values its pages of data have. */
function checkPages(
  bytes: Uint8Array,
  column: ColumnMetaData,
  path: SchemaTree[],
  compressors: Compressors,
  unpack: (bytes: number) => void,
): number {
  const reader = { view: viewOf(bytes), offset: 0 };
  const most = Number(column.num_values);
  let found = 0;
  // As the library reads: a last byte is padding, and flat columns end with their rows.
  while (reader.offset < bytes.length - 1 && (found < most || !isFlatColumn(path))) {
    checkThrift(reader.view, reader.offset);
    const header = parquetHeader(reader);
    const end = reader.offset + header.compressed_page_size;
    if (!(header.compressed_page_size >= 0 && end <= bytes.length)) throw new Error('parquet page beyond its column');
    const data = dataOf(header);
    const values = (data ?? header.dictionary_page_header)?.num_values ?? Number.NaN;
    const width = path.at(-1)?.element.type_length ?? 0;
    expectAtMost(width, bytes.length + header.uncompressed_page_size, 'bytes of a value');
    unpack(header.uncompressed_page_size);
    // The smallest values of a dictionary are bits.
    if (data === undefined) expectAtMost(values, 8 * header.uncompressed_page_size, 'values of a dictionary');
    else {
      expectAtMost(values, most - found, 'values of a page');
      found += values;
      checkData(bytes.subarray(reader.offset, end), header, values, { column, path, compressors, unpack });
    }
    reader.offset = end;
  }
  return found;
}

function dataOf({ type, data_page_header: v1, data_page_header_v2: v2 }: PageHeader) {
  return type === 'DATA_PAGE' ? v1 : type === 'DATA_PAGE_V2' ? v2 : undefined;
}

interface Place {
  readonly column: ColumnMetaData;
  readonly path: SchemaTree[];
  readonly compressors: Compressors;
  readonly unpack: (bytes: number) => void;
}

/** Checks the runs of a page's levels and values: the library writes as many as a run says. */
function checkData(
  packed: Uint8Array,
  header: PageHeader,
  values: number,
  { column, path, compressors, unpack }: Place,
): void {
  const { type, data_page_header_v2, uncompressed_page_size: size } = header;
  const v2 = type === 'DATA_PAGE_V2' ? data_page_header_v2 : undefined;
  const [repetition, definition] = [getMaxRepetitionLevel(path), getMaxDefinitionLevel(path)];
  let [page, at, nulls] = [packed, 0, 0];
  if (v2 !== undefined) {
    const ends = [
      v2.repetition_levels_byte_length,
      v2.repetition_levels_byte_length + v2.definition_levels_byte_length,
    ] as const;
    // Without a length it is NaN, at which reading would never end.
    if (!ends.every((end) => end >= 0 && end <= packed.length)) throw new Error('parquet levels beyond their page');
    if (repetition > 0) checkRuns(packed, 0, bitsFor(repetition), values);
    if (definition > 0) checkRuns(packed, ends[0], bitsFor(definition), values);
    nulls = v2.num_nulls;
    page = packed.subarray(ends[1]);
    if (v2.is_compressed !== false && size > ends[1])
      page = decompressPage(page, size - ends[1], column.codec, compressors);
  } else {
    page = decompressPage(packed, size, column.codec, compressors);
    for (const [level, hasNulls] of [
      [repetition, false],
      [definition, true],
    ] as const) {
      if (level === 0) continue;
      checkRuns(page, at + 4, bitsFor(level), values);
      if (hasNulls) nulls = values - countAt(page, at, level, values);
      at += 4 + viewOf(page).getUint32(at, true);
    }
  }
  const encoding = dataOf(header)?.encoding ?? '';
  const present = values - nulls;
  expectAtMost(present, values, 'values of a page');
  if (encoding.endsWith('_DICTIONARY') && present > 0) {
    const width = page[at] ?? 0;
    expectAtMost(width, 32, 'bits of an index');
    if (width > 0) checkRuns(page, at + 1, width, present);
  } else if (encoding === 'RLE') checkRuns(page, at + 4, 1, present);
  else if (encoding === 'DELTA_BYTE_ARRAY') unpack(sharedBytes(page, at, present));
  else if (encoding === 'BYTE_STREAM_SPLIT')
    expectAtMost(present * (path.at(-1)?.element.type_length ?? 1), page.length, 'bytes');
}

/** Throws where a run of equal values is longer than the values that are left. */
function checkRuns(bytes: Uint8Array, at: number, width: number, values: number): void {
  const reader = { view: viewOf(bytes), offset: at };
  for (let seen = 0; seen < values; ) {
    const header = readVarInt(reader);
    const count = header & 1 ? (header >>> 1) * 8 : header >>> 1;
    // Packed bits are filled up to groups of eight values, and some writers fill up whole buffers.
    if (count === 0 || (header & 1 ? count > values + 512 : count > values - seen))
      throw new Error(`parquet run of ${count} values in a page of ${values}`);
    reader.offset += header & 1 ? Math.ceil((count * width) / 8) : Math.ceil(width / 8);
    seen += count;
  }
}

/** How many values have the highest level: the others are null, or lists without items. */
function countAt(bytes: Uint8Array, offset: number, highest: number, values: number): number {
  const levels = new Array<number>(values);
  readRleBitPackedHybrid({ view: viewOf(bytes), offset }, bitsFor(highest), levels);
  return levels.reduce((count, level) => count + (level === highest ? 1 : 0), 0);
}

/** Bytes of texts that share their beginning with the one before: each is unpacked whole. */
function sharedBytes(bytes: Uint8Array, offset: number, values: number): number {
  const reader = { view: viewOf(bytes), offset };
  const lengths = [0, 1].map(() => {
    const unpacked = new Int32Array(values);
    deltaBinaryUnpack(reader, values, unpacked);
    return unpacked;
  });
  return lengths.reduce((sum, all) => all.reduce((total, one) => total + Math.abs(one), sum), 0);
}

function bitsFor(highest: number): number {
  return 32 - Math.clz32(highest);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
