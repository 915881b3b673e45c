/** Rows of parquet files, with the compressions that Node knows: gzip (the Hub's older files), zstd (its newer ones), brotli. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type AsyncBuffer, type Compressors, parquetReadObjects } from 'hyparquet';

/** The file says how long a page is; more than that is a damaged or hostile one, which throws. */
const compressors: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: length }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: length }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: length }),
};

/** All rows of a parquet file, read through `slice`; throws what is wrong with it. Snappy pages need no help. */
export async function readParquetRows(
  file: AsyncBuffer | ArrayBuffer,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return parquetReadObjects({ file, compressors });
}
