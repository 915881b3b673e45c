import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeSafetensors, floatToHalf, openSafetensors, toFloat32 } from '../../main/model/safetensors.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';

const half = (bits: number): number => toFloat32(Buffer.from(Uint16Array.of(bits).buffer), 'F16')[0] ?? 0;
const bfloat = (bits: number): number => toFloat32(Buffer.from(Uint16Array.of(bits).buffer), 'BF16')[0] ?? 0;

describe('toFloat32', () => {
  it.each([
    [0x0000, 0],
    [0x8000, -0],
    [0x3c00, 1],
    [0xc000, -2],
    [0x3555, 0.333251953125],
    [0x7bff, 65504],
    [0x0400, 2 ** -14],
    [0x03ff, 1023 * 2 ** -24],
    [0x0200, 2 ** -15],
    [0x0001, 2 ** -24],
    [0x8001, -(2 ** -24)],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
    [0x7e00, Number.NaN],
    [0x7c01, Number.NaN],
  ])('reads the float16 %i as %d', (bits, value) => {
    expect(half(bits)).toBe(value);
  });

  it.each([
    [0x3f80, 1],
    [0xbf80, -1],
    [0x4049, 3.140625],
    [0x0001, 2 ** -133],
    [0x7f7f, 3.3895313892515355e38],
    [0x7f80, Infinity],
    [0xff80, -Infinity],
    [0x7fc0, Number.NaN],
    [0x8000, -0],
  ])('reads the bfloat16 %i as %d', (bits, value) => {
    expect(bfloat(bits)).toBe(value);
  });

  it('reads numbers that begin at an odd place of their buffer', () => {
    const bytes = Buffer.concat([Buffer.of(0), Buffer.from(Float32Array.of(1.5, -2).buffer)]).subarray(1);
    expect([...toFloat32(bytes as Buffer<ArrayBuffer>, 'F32')]).toEqual([1.5, -2]);
  });
});

describe('floatToHalf', () => {
  it('is the inverse of reading, for every float16 that is a number', () => {
    for (let bits = 0; bits < 0x10000; bits++)
      if (!Number.isNaN(half(bits))) expect(floatToHalf(half(bits))).toBe(bits);
  });

  it('rounds to the nearest, ties to even', () => {
    expect(floatToHalf(1 + 2 ** -11)).toBe(0x3c00);
    expect(floatToHalf(1 + 3 * 2 ** -11)).toBe(0x3c02);
    expect(floatToHalf(1 + 2 ** -11 + 2 ** -20)).toBe(0x3c01);
    expect(floatToHalf(65519)).toBe(0x7bff);
    expect(floatToHalf(65520)).toBe(0x7c00);
    expect(floatToHalf(1e9)).toBe(0x7c00);
    expect(floatToHalf(2 ** -25)).toBe(0);
    expect(floatToHalf(1.5 * 2 ** -24)).toBe(2);
    expect(floatToHalf(2 ** -14 - 2 ** -26)).toBe(0x0400);
    expect(floatToHalf(Number.NaN) & 0x7fff).toBe(0x7e00);
  });
});

describe('openSafetensors', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = temporaryFolder();
    file = join(folder, 'model.safetensors');
  });

  const tensors = [
    { name: 'b', shape: [2, 2], data: Float32Array.of(1, -2, 0.5, 4096) },
    { name: 'a', shape: [3], data: Float32Array.of(0, 65504, -0.125) },
    { name: 'scalar', shape: [], data: Float32Array.of(7) },
    { name: 'empty', shape: [0, 4], data: new Float32Array(0) },
  ];
  const write = (content: Uint8Array): void => writeFileSync(file, content);
  /** A file with this header and so many bytes of data. */
  const withHeader = (header: string, dataBytes = 0): Buffer => {
    const prefix = Buffer.alloc(8);
    prefix.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
    return Buffer.concat([prefix, Buffer.from(header), Buffer.alloc(dataBytes)]);
  };
  const entry = (dtype: string, shape: number[], offsets: number[]): string =>
    JSON.stringify({ x: { dtype, shape, data_offsets: offsets } });

  it.each(['F32', 'F16'] as const)('reads back what was written as %s', (type) => {
    write(encodeSafetensors(tensors, { format: 'pt', note: 'ü' }, type));
    const opened = openSafetensors(file);
    expect([...opened.entries.keys()]).toEqual(['b', 'a', 'scalar', 'empty']);
    expect(opened.metadata).toEqual({ format: 'pt', note: 'ü' });
    for (const { name, shape, data } of tensors) {
      expect(opened.entries.get(name)?.shape).toEqual(shape);
      expect([...opened.read(name)]).toEqual([...data]);
    }
    opened.close();
  });

  it('reads a header without metadata, or with null', () => {
    for (const header of ['{}', '{"__metadata__": null}']) {
      write(withHeader(header));
      const opened = openSafetensors(file);
      expect(opened.metadata).toEqual({});
      opened.close();
    }
  });

  it('writes no number that float16 would make infinite', () => {
    const one = (value: number) => [{ name: 'big', shape: [2], data: Float32Array.of(1, value) }];
    for (const value of [65520, -70000, 1e9])
      expect(fault(() => encodeSafetensors(one(value), {}, 'F16'))).toEqual([
        'BEYOND_FLOAT16',
        expect.stringMatching(new RegExp(`"big".*got ${value}`)),
      ]);
    expect(() => encodeSafetensors(one(65519), {}, 'F16')).not.toThrow();
    expect(() => encodeSafetensors(one(1e9), {}, 'F32')).not.toThrow();
  });

  it('says how to save float64 weights', () => {
    write(withHeader(entry('F64', [1], [0, 8]), 8));
    const opened = openSafetensors(file);
    expect(() => opened.typeOf('x')).toThrow(expect.objectContaining({ remedy: expect.stringContaining('float32') }));
    opened.close();
  });

  it('starts its data at a multiple of eight', () => {
    for (const name of ['x', 'xx', 'xxx', 'xxxxxxx']) {
      const bytes = encodeSafetensors([{ name, shape: [1], data: Float32Array.of(1) }]);
      expect(Number(bytes.readBigUInt64LE(0)) % 8).toBe(0);
    }
  });

  const faults: [string, () => Uint8Array, string, string][] = [
    ['an empty file', () => Buffer.alloc(0), 'FILE_TRUNCATED', 'got 0'],
    ['a picture', () => Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1'), 'NOT_SAFETENSORS', 'header of'],
    ['a header beyond the file', () => withHeader('{}').subarray(0, 9), 'FILE_TRUNCATED', 'header needs'],
    ['a header that is not JSON', () => withHeader('hello {}'), 'NOT_SAFETENSORS', 'is not JSON'],
    ['a header that is a list', () => withHeader('[1, 2]'), 'NOT_SAFETENSORS', 'is JSON, but not'],
    ['metadata with a number', () => withHeader('{"__metadata__": {"a": 1}}'), 'NOT_SAFETENSORS', '"__metadata__"'],
    ['a malformed entry', () => withHeader('{"x": {"dtype": "F32"}}'), 'NOT_SAFETENSORS', '"x"'],
    [
      'a shape of a million',
      () => withHeader(entry('F32', Array(1e6).fill(1), [0, 4]), 4),
      'NOT_SAFETENSORS',
      'malformed',
    ],
    [
      'more tensors than any model has',
      () => withHeader(`{${Array.from({ length: 20_003 }, (_, i) => `"${i}":{}`).join()}}`),
      'NOT_SAFETENSORS',
      'at most 20000 tensors',
    ],
    ['a header of megabytes', () => withHeader(`{}${' '.repeat(2 ** 22)}`, 9), 'NOT_SAFETENSORS', 'at most 4194304'],
    ['missing data', () => encodeSafetensors(tensors).subarray(0, -5), 'FILE_TRUNCATED', 'truncated'],
    ['a size that is not its shape', () => withHeader(entry('F32', [3], [0, 8]), 8), 'NOT_SAFETENSORS', 'needs 12'],
    [
      'appended bytes',
      () => Buffer.concat([encodeSafetensors(tensors), Buffer.alloc(3)]),
      'NOT_SAFETENSORS',
      'of data, got',
    ],
    ['a gap', () => withHeader(entry('F32', [1], [4, 8]), 8), 'NOT_SAFETENSORS', 'to begin at byte 0'],
    ['turned offsets', () => withHeader(entry('F32', [0], [8, 4]), 8), 'NOT_SAFETENSORS', 'x'],
  ];
  it.each(faults)('rejects %s, naming the file', (_, content, code, named) => {
    write(content());
    const [actual, message] = fault(() => openSafetensors(file));
    expect([actual, message]).toEqual([code, expect.stringContaining(named)]);
    expect(message).toContain(file);
  });

  it.each([
    ['F32', [0, 0, 0x80, 0x7f], [0xff, 0xff, 0x7f, 0x7f]],
    ['F32', [1, 0, 0x80, 0xff], [0, 0, 0x40, 0xff]],
    ['F16', [0, 0x7c], [0xff, 0x7b]],
    ['F16', [1, 0xfe], [0xff, 0xfb]],
    ['BF16', [0x80, 0x7f], [0x7f, 0x7f]],
    ['BF16', [0xc0, 0xff], [0x7f, 0xff]],
  ] as const)('refuses %s numbers that are not finite, at any place', (type, bad, good) => {
    for (const count of [1, 2, 3]) {
      for (let place = 0; place < count; place++) {
        const data = (at: readonly number[]) =>
          Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.from(i === place ? at : good)));
        const whole = (at: readonly number[]) =>
          Buffer.concat([withHeader(entry(type, [count], [0, count * good.length])), data(at)]);
        write(whole(bad));
        const opened = openSafetensors(file);
        expect(fault(() => opened.read('x'))[0]).toBe('NOT_FINITE');
        opened.close();
        const unchecked = openSafetensors(file, { finite: false });
        expect(Number.isFinite(unchecked.read('x')[place])).toBe(false);
        unchecked.close();
        write(whole(good));
        const sound = openSafetensors(file);
        expect(sound.read('x').every(Number.isFinite)).toBe(true);
        sound.close();
      }
    }
  });

  it('refuses a missing file and a folder', () => {
    expect(fault(() => openSafetensors(file))).toEqual(['MODEL_FILE_MISSING', expect.stringContaining(file)]);
    expect(fault(() => openSafetensors(folder))).toEqual(['NOT_SAFETENSORS', expect.stringContaining('folder')]);
  });

  it('rejects to read an unknown tensor, or one of another type', () => {
    write(withHeader(entry('I64', [1], [0, 8]), 8));
    const opened = openSafetensors(file);
    expect(fault(() => opened.read('y'))).toEqual(['TENSOR_MISSING', expect.stringContaining('"y"')]);
    expect(fault(() => opened.read('x'))).toEqual(['UNSUPPORTED_DTYPE', expect.stringContaining('I64')]);
    opened.close();
  });

  it('notices a file that shrinks while it is read', () => {
    write(encodeSafetensors(tensors));
    const opened = openSafetensors(file);
    write(readFileSync(file).subarray(0, -20));
    expect(fault(() => opened.read('scalar'))).toEqual(['FILE_TRUNCATED', expect.stringContaining(file)]);
    opened.close();
  });
});
