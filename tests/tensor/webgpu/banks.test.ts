/** Workgroup memory has banks: lanes that ask one bank for several places wait for each other. Counted, not measured. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { cutOf, placeInPanel } from '../../../main/tensor/webgpu/kernels/attention-registers.ts';
import { FOURS } from '../../../main/tensor/webgpu/kernels/attention-tile.ts';
import { vectorOf } from '../../../main/tensor/webgpu/kernels/decode-attention.ts';

/** Of a GPU's workgroup memory, of four bytes each: 16 bytes of eight lanes are served at a time. */
const BANKS = 32;

/** Turns that a load takes: the most places of one bank, each of `width` words. */
function turns(places: readonly number[], width: number): number {
  const banks = new Map<number, Set<number>>();
  for (const place of places) {
    const bank = (place * width) % BANKS;
    banks.set(bank, (banks.get(bank) ?? new Set()).add(place));
  }
  return Math.max(...[...banks.values()].map(({ size }) => size));
}

/** Those that are served at a time. */
const lanes = Array.from({ length: 8 }, (_, lane) => lane);

/** An expression's value, by the WGSL itself. */
const evaluated = (wgsl: string, names: Readonly<Record<string, number>>): number =>
  runInNewContext(wgsl.replaceAll(/(\d)u\b/g, '$1'), { ...names });

const vectorAt = (n: number, j: number, vectors: number): number => evaluated(vectorOf('n', 'j', vectors), { n, j });

describe('vectorOf', () => {
  it.each([32, 64, 96, 128, 256])('has eight lanes read eight lines of heads of %i at once', (headDim) => {
    const vectors = headDim / 4;
    for (let n = 0; n < vectors; n++) {
      const places = lanes.map((j) => j * vectors + vectorAt(n, j, vectors));
      expect(turns(places, 4)).toBe(1);
      // The other side is one line: vectors beside each other.
      expect(
        turns(
          lanes.map((j) => vectorAt(n, j, vectors)),
          4,
        ),
      ).toBe(1);
    }
  });

  it('gives each lane every vector once', () => {
    for (const j of lanes)
      expect(new Set(Array.from({ length: 20 }, (_, n) => vectorAt(n, j, 20)))).toEqual(new Set(Array(20).keys()));
  });
});

describe('placeInPanel', () => {
  const placeOf = (number: number, four: number): number => evaluated(placeInPanel('number', 'four'), { number, four });

  it.each([8, 80, 128, 256])('has lanes read and write a head of %i by all banks', (headDim) => {
    const { depth } = cutOf(headDim, 1);
    const places = new Set<number>();
    for (let number = 0; number < 4 * depth; number++) {
      const reads = lanes.map((four) => placeOf(number, four));
      expect(turns(reads, 4)).toBe(1);
      for (const place of reads) places.add(place);
    }
    // A number of one vector after the other, as pieces are dealt out to lanes.
    const writes = lanes.map((lane) => placeOf(4 * (lane % depth), Math.floor(lane / depth)));
    expect(turns(writes, 4)).toBeLessThanOrEqual(depth === FOURS ? 1 : 2);
    expect(places.size).toBe(4 * depth * FOURS);
  });
});
