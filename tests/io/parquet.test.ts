import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { readParquetRows } from '../../main/io/parquet.ts';

const texts = Array.from({ length: 200 }, (_, i) => `row ${i % 7}`);
const columnData = [{ name: 'text', data: texts, type: 'STRING' as const }];

describe('readParquetRows', () => {
  const by = { GZIP: gzipSync, BROTLI: brotliCompressSync, ZSTD: zstdCompressSync } as const;

  it.each(['GZIP', 'BROTLI', 'ZSTD'] as const)('reads pages compressed by %s', async (codec) => {
    const compressors = { [codec]: (page: Uint8Array) => new Uint8Array(by[codec](page)) };
    const rows = await readParquetRows(parquetWriteBuffer({ columnData, codec, compressors }));
    expect(rows.map(({ text }) => text)).toEqual(texts);
  });

  it('reads what needs no help, and refuses a page that unpacks to more than the file says', async () => {
    expect(await readParquetRows(parquetWriteBuffer({ columnData }))).toHaveLength(texts.length);
    const bomb = { ZSTD: () => new Uint8Array(zstdCompressSync(new Uint8Array(1e8))) };
    await expect(
      readParquetRows(parquetWriteBuffer({ columnData, codec: 'ZSTD', compressors: bomb })),
    ).rejects.toThrow();
  });
});
