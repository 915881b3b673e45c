import { describe, expect, it } from 'vitest';
import { ropeFrequencies } from '../../main/model/rope-tables.ts';

describe('ropeFrequencies', () => {
  it('falls from 1 by theta^(-2j/d)', () => {
    const frequencies = ropeFrequencies({
      headDim: 4,
      ropeTheta: 10000,
      ropeScaling: null,
      rotaryDim: null,
      longRope: null,
    });
    expect(frequencies[0]).toBe(1);
    expect(frequencies[1]).toBeCloseTo(0.01, 12);
  });

  it('keeps short waves, slows long ones and blends between, as Llama 3 does', () => {
    const ropeScaling = {
      type: 'llama3' as const,
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositionEmbeddings: 2 * Math.PI * 40,
    };
    // Wavelengths 2π * (1, 20, 400): below 40/4, between, above 40/1 turns of 2π.
    const frequencies = ropeFrequencies({
      headDim: 6,
      ropeTheta: 20 ** 3,
      ropeScaling,
      rotaryDim: null,
      longRope: null,
    });
    expect(frequencies[0]).toBe(1);
    // (40/20 - 1) / (4 - 1) = 1/3 of the way: 2/3 of f/8 and 1/3 of f.
    expect(frequencies[1]).toBeCloseTo((1 / 20) * (2 / 3 / 8 + 1 / 3), 12);
    expect(frequencies[2]).toBeCloseTo(1 / 400 / 8, 12);
  });
});
