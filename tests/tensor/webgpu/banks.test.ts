/** Workgroup memory has banks: lanes that ask one bank for several places wait for each other. Counted, not measured. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { BANKS, spread, vectorOf } from '../../../main/tensor/webgpu/kernels/attention-tile.ts';

/** Turns that a load takes: the most places of one bank, each of `width` words. */
function turns(places: readonly number[], width: number): number {
  const banks = new Map<number, Set<number>>();
  for (const place of places) {
    const bank = (place * width) % BANKS;
    banks.set(bank, (banks.get(bank) ?? new Set()).add(place));
  }
  return Math.max(...[...banks.values()].map(({ size }) => size));
}

/** Sixteen bytes each of so many lanes are served at a time. */
const lanes = Array.from({ length: 8 }, (_, lane) => lane);

/** Of the vector that lane `j` reads as its n-th, by the WGSL itself. */
const vectorAt = (n: number, j: number, vectors: number): number =>
  runInNewContext(vectorOf('n', 'j', vectors).replaceAll(/(\d)u\b/g, '$1'), { n, j });

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

describe('spread', () => {
  it.each([
    [8, 8],
    [8, 16],
    [8, 32],
    [16, 8],
    [16, 16],
    [16, 32],
  ])('keeps the scores of a subgroup of teams of %i apart in tiles of %i keys', (team, keys) => {
    const stride = spread({ keys, team });
    const rows = Array.from({ length: 32 / team }, (_, row) => row);
    const mine = Array.from({ length: Math.min(team, keys) }, (_, me) => me);
    expect(
      turns(
        rows.flatMap((row) => mine.map((me) => row * stride + me)),
        1,
      ),
    ).toBe(1);
    expect(
      turns(
        rows.map((row) => row * stride),
        1,
      ),
    ).toBe(1);
  });
});
