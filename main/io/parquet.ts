/** Rows of parquet files, with the compressions that Node knows: gzip (the Hub's older files), zstd (its newer ones), brotli. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type AsyncRowGroup,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetSchema,
} from 'hyparquet';
import { parquetReadAsync } from 'hyparquet/src/read.js';
import { assembleAsync, asyncGroupToRows } from 'hyparquet/src/rowgroup.js';
import { checkChunks, checkFooter } from './parquet-limits.ts';
import { parquetParsers, rawSchema, type Unreadable, valueReader } from './parquet-values.ts';
import { unpackSnappy } from './snappy.ts';

/** The file says how long a page is; more than that is a damaged or hostile one, which throws. A column of nulls has empty ones. */
const unpackBy =
  (unpack: (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array) =>
  (input: Uint8Array, length: number): Uint8Array =>
    length === 0 ? new Uint8Array() : unpack(input, { maxOutputLength: length });

const compressors: Compressors = {
  GZIP: unpackBy(gunzipSync),
  BROTLI: unpackBy(brotliDecompressSync),
  ZSTD: unpackBy(zstdDecompressSync),
  SNAPPY: unpackSnappy,
};

type Row = Readonly<Record<string, unknown>>;

export interface ParquetRows {
  readonly rows: readonly Row[];
  /** Why columns, with a dot for one inside another, have a value that isn't text or a number; it is null in the rows. */
  readonly unreadable: Unreadable;
}

/** All rows of a parquet file with values as JSON has them, read through `slice`; throws what is wrong with it. */
export async function readParquet(file: AsyncBuffer | ArrayBuffer): Promise<ParquetRows> {
  try {
    await checkFooter(file);
    const metadata = await parquetMetadataAsync(file, { parsers: parquetParsers, geoparquet: false });
    await checkChunks(file, metadata, compressors);
    const tree = parquetSchema(metadata);
    const unreadable = new Map<string, string>();
    const readers = tree.children.map((child) => [child.element.name, valueReader(child, unreadable)] as const);
    const rows: Row[] = [];
    for (const raw of await rawRows(file, metadata)) {
      rows.push(Object.fromEntries(readers.map(([name, read]) => [name, read(raw[name], rows.length + 1)])));
    }
    return { rows, unreadable };
  } catch (cause) {
    const { message } = cause as Error;
    // Others are of what the library stumbles over.
    throw new Error(/^(?:parquet|thrift) /.test(message) ? message : 'it is damaged', { cause });
  }
}

/** The rows alone. */
export async function readParquetRows(file: AsyncBuffer | ArrayBuffer): Promise<readonly Row[]> {
  return (await readParquet(file)).rows;
}

async function rawRows(file: AsyncBuffer | ArrayBuffer, metadata: FileMetaData) {
  const schema = rawSchema(metadata.schema);
  const raw = { ...metadata, schema };
  // What is thrown at once would leave the columns that are already being read unobserved.
  const slice: AsyncBuffer['slice'] = async (from, to) => file.slice(from, to);
  const options = { file: { byteLength: file.byteLength, slice }, metadata: raw, compressors, utf8: false };
  const groups = parquetReadAsync({ ...options, parsers: parquetParsers });
  await settled(groups);
  const assembled = groups.map((group) => assembleAsync(group, parquetSchema(raw), parquetParsers));
  await settled(assembled);
  const rows: Record<string, unknown>[] = [];
  for (const group of assembled) {
    for (const { pathInSchema, data } of group.asyncColumns) {
      const found = (await data).data.reduce((sum, { length }) => sum + length, 0);
      if (found < group.groupRows)
        throw new Error(`parquet column ${pathInSchema[0]} has ${found} of ${group.groupRows} rows`);
    }
    const names = group.asyncColumns.map(({ pathInSchema }) => pathInSchema[0] ?? '');
    // The library's own objects would lose a column "__proto__".
    for (const values of await asyncGroupToRows(group, 0, group.groupRows, undefined, 'array'))
      rows.push(Object.fromEntries(names.map((name, i) => [name, values[i]])));
  }
  return rows;
}

/** Waits for every column, since a second one that fails while nobody waits for it would end the process. */
async function settled(groups: readonly AsyncRowGroup[]): Promise<void> {
  const outcomes = await Promise.allSettled(groups.flatMap(({ asyncColumns }) => asyncColumns.map(({ data }) => data)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
