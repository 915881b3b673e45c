import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { readParquet, readParquetRows } from '../../main/io/parquet.ts';
import { randomStream } from '../../main/random.ts';

const texts = Array.from({ length: 200 }, (_, i) => `row ${i % 7}`);
const columnData = [{ name: 'text', data: texts, type: 'STRING' as const }];

describe('readParquetRows', () => {
  const by = { GZIP: gzipSync, BROTLI: brotliCompressSync, ZSTD: zstdCompressSync } as const;

  it.each(['GZIP', 'BROTLI', 'ZSTD'] as const)('reads pages compressed by %s', async (codec) => {
    const compressors = { [codec]: (page: Uint8Array) => new Uint8Array(by[codec](page)) };
    const rows = await readParquetRows(parquetWriteBuffer({ columnData, codec, compressors }));
    expect(rows.map(({ text }) => text)).toEqual(texts);
  });

  it('reads a column called "__proto__", and names a column with such a field', async () => {
    const named = { name: '__proto__', data: ['a', 'b'], type: 'STRING' as const };
    const [first] = await readParquetRows(parquetWriteBuffer({ columnData: [named, { name: 'n', data: [1, 2] }] }));
    expect(Object.entries(first ?? {})).toEqual([
      ['__proto__', 'a'],
      ['n', 1],
    ]);
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'talk', num_children: 2, repetition_type: 'REQUIRED' },
      { name: '__proto__', type: 'INT32', repetition_type: 'REQUIRED' },
      { name: 'x', type: 'INT32', repetition_type: 'REQUIRED' },
    ];
    const data = [JSON.parse('{"__proto__": 1, "x": 2}')];
    const { rows, unreadable } = await readParquet(
      parquetWriteBuffer({ columnData: [{ name: 'talk', data }], schema }),
    );
    expect(rows).toEqual([{ talk: null }]);
    expect(unreadable.get('talk')).toContain('row 1 has a field called "__proto__"');
  });

  it('reads a map with a key "__proto__", and such texts as they are', async () => {
    const texts = ['__proto__', '\0__proto__', 'x'];
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 2 },
      { name: 'text', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
      { name: 'map', num_children: 1, repetition_type: 'OPTIONAL', converted_type: 'MAP' },
      { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
      { name: 'key', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
      { name: 'value', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    ];
    const map = new Map(texts.map((text) => [text, text]));
    const columnData = [
      { name: 'text', data: texts },
      { name: 'map', data: texts.map(() => map) },
    ];
    const [first, second] = await readParquetRows(parquetWriteBuffer({ columnData, schema }));
    expect([first?.text, second?.text]).toEqual(texts.slice(0, 2));
    expect(Object.entries(first?.map as object)).toEqual(texts.map((text) => [text, text]));
  });

  it('reads what needs no help, and refuses a page that unpacks to more than the file says', async () => {
    expect(await readParquetRows(parquetWriteBuffer({ columnData }))).toHaveLength(texts.length);
    const bomb = { ZSTD: () => new Uint8Array(zstdCompressSync(new Uint8Array(1e8))) };
    await expect(
      readParquetRows(parquetWriteBuffer({ columnData, codec: 'ZSTD', compressors: bomb })),
    ).rejects.toThrow();
  });

  it('refuses damaged files with one plain message each, whatever is damaged', async () => {
    const stream = randomStream(1, 0);
    const random = () => stream.next();
    const whole = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'text', data: texts },
          { name: 'n', data: texts.map((_, i) => (i % 5 === 0 ? null : i)) },
          { name: 'list', data: texts.map((_, i) => Array(i % 4).fill(i)) },
        ],
      }),
    );
    const messages = new Set<string>();
    for (let i = 0; i < 400; i++) {
      const mutant = whole.slice(0, i % 10 === 0 ? Math.floor(random() * whole.length) : whole.length);
      // Half of them in the footer, which says where everything is.
      const from = i % 2 === 0 ? 0 : Math.max(0, mutant.length - 600);
      const at = from + Math.floor(random() * (mutant.length - from));
      mutant[at] = i % 3 === 0 ? 0xff : Math.floor(random() * 256);
      // A promise that nobody waits for fails this file's run.
      await readParquetRows(mutant.buffer).catch(({ message }: Error) => messages.add(message));
    }
    expect(messages.size).toBeGreaterThan(10);
    for (const message of messages) expect(message).toMatch(/^(?:parquet|thrift) |^it is damaged$/);
  });

  it('refuses runs and sizes that are larger than the file allows, before anything of that size is made', async () => {
    const ones = new Uint8Array(
      parquetWriteBuffer({
        codec: 'UNCOMPRESSED',
        columnData: [{ name: 'n', data: Array.from({ length: 1000 }, (_, i) => (i < 900 ? 1 : null)) }],
      }),
    );
    const claims: string[] = [];
    for (let at = 4; at < ones.length - 8; at++) {
      const mutant = ones.slice();
      // Lengths are numbers of seven bits a byte: these make them huge.
      mutant.set([0xfe, 0xff, 0xff, 0xff, 0x0f], Math.min(at, ones.length - 13));
      await readParquetRows(mutant.buffer).catch(({ message }: Error) => claims.push(message));
    }
    expect(claims.some((message) => /^parquet run of \d{9,} values in a page of 1000$/.test(message))).toBe(true);
    expect(claims.some((message) => /^parquet file claims \d{9,} /.test(message))).toBe(true);
  });

  it('refuses a snappy literal of billions of bytes at once', async () => {
    const compressors = { SNAPPY: () => new Uint8Array([0x88, 0x0e, 0xfc, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]) };
    const began = performance.now();
    await expect(readParquetRows(parquetWriteBuffer({ columnData, codec: 'SNAPPY', compressors }))).rejects.toThrow(
      'a literal longer than itself',
    );
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it('refuses two columns of one name, of which one would be lost', async () => {
    const columnData = [
      { name: 'a', data: ['x'] },
      { name: 'a', data: ['y'] },
    ];
    await expect(readParquetRows(parquetWriteBuffer({ columnData }))).rejects.toThrow('two columns "a"');
  });

  it('names a compression that it does not know', async () => {
    const compressors = { LZ4_RAW: (page: Uint8Array) => page };
    await expect(readParquetRows(parquetWriteBuffer({ columnData, codec: 'LZ4_RAW', compressors }))).rejects.toThrow(
      /by LZ4_RAW, .* zstd or snappy$/,
    );
  });

  it('reads columns of nulls, whose pages are empty', async () => {
    const compressors = {
      ZSTD: (page: Uint8Array) => (page.length === 0 ? page : new Uint8Array(zstdCompressSync(page))),
    };
    const nulls = [{ name: 'a', data: [null, null], type: 'STRING' as const }];
    expect(await readParquetRows(parquetWriteBuffer({ columnData: nulls, codec: 'ZSTD', compressors }))).toEqual([
      { a: null },
      { a: null },
    ]);
  });
});
