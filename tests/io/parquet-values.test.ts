import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { readParquet } from '../../main/io/parquet.ts';

/** What is read of a column of this type; expected texts are what Python's str() gives of pyarrow's values. */
async function read(element: Omit<SchemaElement, 'name' | 'repetition_type'>, data: unknown[]): Promise<unknown[]> {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: 1 },
    { name: 'x', repetition_type: 'OPTIONAL', ...element },
  ];
  const { rows } = await readParquet(parquetWriteBuffer({ columnData: [{ name: 'x', data }], schema }));
  return rows.map(({ x }) => x);
}

describe('readParquet', () => {
  it('reads decimals as exact texts of all their places', async () => {
    const decimal = { converted_type: 'DECIMAL', precision: 38, scale: 2 } as const;
    expect(await read({ type: 'INT32', ...decimal }, [50n, 57n, -5n, 0n, null])).toEqual([
      '0.50',
      '0.57',
      '-0.05',
      '0.00',
      null,
    ]);
    expect(await read({ type: 'INT64', ...decimal }, [-(2n ** 63n)])).toEqual(['-92233720368547758.08']);
    const nines = 10n ** 38n - 1n;
    expect(await read({ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, ...decimal }, [nines, -nines])).toEqual([
      `${'9'.repeat(36)}.99`,
      `-${'9'.repeat(36)}.99`,
    ]);
    expect(await read({ type: 'BYTE_ARRAY', ...decimal }, [12345n])).toEqual(['123.45']);
  });

  it('reads dates, times and moments as they are, with the zone that they have', async () => {
    expect(await read({ type: 'INT32', converted_type: 'DATE' }, [0, -1, 19_782, -719_162, null])).toEqual([
      ...['1970-01-01', '1969-12-31', '2024-02-29', '0001-01-01', null],
    ]);
    expect(await read({ type: 'INT32', converted_type: 'TIME_MILLIS' }, [36_060_000, 1])).toEqual([
      '10:01:00',
      '00:00:00.001000',
    ]);
    const moment = (unit: 'MILLIS' | 'MICROS' | 'NANOS', isAdjustedToUTC: boolean) =>
      ({ type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit } }) as const;
    const micros = 1_704_196_800_123_456n;
    expect(await read(moment('MICROS', false), [micros, -1n, null])).toEqual([
      ...['2024-01-02 12:00:00.123456', '1969-12-31 23:59:59.999999', null],
    ]);
    expect(await read(moment('NANOS', true), [micros * 1000n + 789n])).toEqual(['2024-01-02 12:00:00.123456789+00:00']);
    expect(await read(moment('MILLIS', false), [1_704_196_800_000n])).toEqual(['2024-01-02 12:00:00']);
    const time = { type: 'TIME', isAdjustedToUTC: true, unit: 'MICROS' } as const;
    expect(await read({ type: 'INT64', logical_type: time }, [36_060_000_001n])).toEqual(['10:01:00.000001']);
  });

  it('reads integers exactly, and narrow floats as short as they are', async () => {
    expect(await read({ type: 'INT64' }, [2n ** 53n + 1n, 7n])).toEqual(['9007199254740993', 7]);
    expect(await read({ type: 'INT64', converted_type: 'UINT_64' }, [2n ** 64n - 1n])).toEqual([
      '18446744073709551615',
    ]);
    const floats = [Math.fround(0.1), 16_777_216, Number.NaN, Number.POSITIVE_INFINITY];
    expect(await read({ type: 'FLOAT' }, floats)).toEqual([0.1, 16_777_216, null, 'inf']);
    const half = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } } as const;
    expect(await read(half, [0.1])).toEqual([0.1]);
  });

  it('reads values inside lists and structs in the same way', async () => {
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'x', repetition_type: 'OPTIONAL', num_children: 1 },
      { name: 'days', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', type: 'INT32', converted_type: 'DATE' },
    ];
    const data = [{ days: [0, null] }, { days: [] }, null];
    const { rows } = await readParquet(parquetWriteBuffer({ columnData: [{ name: 'x', data }], schema }));
    expect(rows.map(({ x }) => x)).toEqual([{ days: ['1970-01-01', null] }, { days: [] }, null]);
  });

  it("takes bytes for texts only where they are UTF-8, and says where they aren't", async () => {
    const bytes = (...all: number[]): Uint8Array => new Uint8Array(all);
    const data = [bytes(0xc3, 0xa9), bytes(0xff), null];
    const { rows, unreadable } = await readParquet(
      parquetWriteBuffer({ columnData: [{ name: 'x', data, type: 'BYTE_ARRAY' }] }),
    );
    expect(rows.map(({ x }) => x)).toEqual(['é', null, null]);
    expect([...unreadable]).toEqual([['x', "row 2 has bytes that aren't UTF-8 text"]]);
  });
});
