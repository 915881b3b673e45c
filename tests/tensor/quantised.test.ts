import { describe, expect, it } from 'vitest';
import { randomStream } from '../../main/random.ts';
import { blocksOf, dequantise, NF4_LEVELS, quantise, quantisedBytes } from '../../main/tensor/quantised.ts';
import { throughQuantised, type WeightSource } from '../../main/tensor/weights.ts';

function normals(count: number): Float32Array<ArrayBuffer> {
  const { next } = randomStream(3);
  return Float32Array.from({ length: count }, () => 0.02 * (next() + next() + next() - 1.5));
}

const through = (values: Float32Array, kind: 'int8' | 'nf4'): Float32Array =>
  dequantise(quantise(values, kind), kind, values.length);

describe('quantise and dequantise', () => {
  it('keep the largest number of a block, 0, and by int8 each 127th', () => {
    const values = Float32Array.from({ length: 64 }, (_, i) => (i - 32) / 127);
    values[0] = -1;
    const back = through(values, 'int8');
    back.forEach((value, i) => {
      expect(value).toBeCloseTo(values[i] ?? Number.NaN, 6);
    });
    expect([...through(new Float32Array(70), 'nf4')]).toEqual(new Array(70).fill(0));
  });

  it('keep that a block has a NaN, wherever it stands, and in no other block', () => {
    for (const at of [0, 5, 63]) {
      const values = normals(128);
      values[at] = Number.NaN;
      const [first = 0, second = Number.NaN] = quantise(values, 'nf4').scales;
      expect([Number.isNaN(first), Number.isNaN(second)]).toEqual([true, false]);
    }
  });

  it("take the nearest of NF4's levels, the lower one half-way", () => {
    const values = Float32Array.from({ length: 4000 }, (_, i) => i / 2000 - 1);
    values.forEach((x) => {
      const [, found = Number.NaN] = through(Float32Array.of(1, x), 'nf4');
      const nearest = Math.min(...NF4_LEVELS.map((level) => Math.abs(level - x)));
      expect(Math.abs(found - x)).toBeCloseTo(nearest, 6);
    });
    expect([...through(Float32Array.from(NF4_LEVELS), 'nf4')]).toEqual(NF4_LEVELS.map(Math.fround));
  });

  it('are off by at most half a step of a block: 1/254 of its largest number, or 0.152 of it', () => {
    const values = normals(1000);
    for (const [kind, share] of [
      ['int8', 1 / 254],
      ['nf4', 0.152],
    ] as const)
      through(values, kind).forEach((value, i) => {
        const block = values.subarray(i - (i % 64), i - (i % 64) + 64);
        const largest = block.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
        expect(Math.abs(value - (values[i] ?? 0))).toBeLessThanOrEqual(1.0001 * share * largest);
      });
  });

  it('take 1.0625 and 0.5625 bytes a number in whole blocks', () => {
    expect([quantisedBytes(640, 'int8'), quantisedBytes(640, 'nf4')]).toEqual([680, 360]);
    expect([quantisedBytes(65, 'int8'), blocksOf(65)]).toEqual([2 * 68, 2]);
  });
});

describe('throughQuantised', () => {
  it('gives the same numbers in any parts', () => {
    const values = normals(500);
    const source: WeightSource = {
      type: 'F32',
      read: () => values,
      readPart: (first, count) => values.slice(first, first + count),
      readRaw: (first, count) => Buffer.from(values.slice(first, first + count).buffer),
    };
    const wrapped = throughQuantised(source, 500, 'nf4');
    const all = wrapped.read();
    expect(all).toEqual(through(values, 'nf4'));
    for (const [first, count] of [
      [0, 10],
      [60, 10],
      [430, 70],
    ] as const) {
      expect(wrapped.readPart(first, count)).toEqual(all.slice(first, first + count));
      expect(new Float32Array(wrapped.readRaw(first, count).buffer)).toEqual(all.slice(first, first + count));
    }
  });
});
