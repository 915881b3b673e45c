import { describe, expect, it } from 'vitest';
import {
  adjustedEntropy,
  appliedCoefficient,
  type EntropyConfig,
  startOfEntropy,
} from '../../../main/trainer/losses/adaptive-entropy.ts';

const config: EntropyConfig = {
  entropy_coef: 0.01,
  use_adaptive_entropy: true,
  entropy_target: 0.5,
  entropy_coef_delta: 0.005,
  entropy_coef_min: 0.002,
  entropy_coef_max: 0.016,
};

describe('appliedCoefficient', () => {
  it('is 0 before anything was measured, and above the target', () => {
    expect(appliedCoefficient(startOfEntropy(config), config)).toBe(0);
    expect(appliedCoefficient({ coefficient: 0.01, entropy: 0.51 }, config)).toBe(0);
    expect(appliedCoefficient({ coefficient: 0.01, entropy: 0.5 }, config)).toBe(0.01);
  });

  it('is the setting without adaptive control', () => {
    const fixed = { ...config, use_adaptive_entropy: false };
    expect(appliedCoefficient({ coefficient: 0.3, entropy: 9 }, fixed)).toBe(0.01);
  });
});

describe('adjustedEntropy', () => {
  it('rises by delta up to the target and falls by delta above it, within its bounds', () => {
    const stepped = (coefficient: number, entropy: number) =>
      adjustedEntropy({ coefficient, entropy: null }, [{ sum: entropy, tokens: 1 }], config);
    expect(stepped(0.01, 0.5)).toEqual({ coefficient: 0.015, entropy: 0.5 });
    expect(stepped(0.015, 0.4).coefficient).toBe(0.016);
    expect(stepped(0.01, 0.6)).toEqual({ coefficient: 0.005, entropy: 0.6 });
    expect(stepped(0.005, 0.6).coefficient).toBe(0.002);
  });

  it('stays as it was in a step whose completions are all masked', () => {
    const control = { coefficient: 0.01, entropy: 0.6 };
    expect(adjustedEntropy(control, [{ sum: 0, tokens: 0 }], config)).toBe(control);
  });

  it('measures the mean over the tokens of all micro-batches', () => {
    // (1 + 2) / (1 + 5) = 0.5, where the mean of the means is 0.7.
    const parts = [
      { sum: 1, tokens: 1 },
      { sum: 2, tokens: 5 },
    ];
    expect(adjustedEntropy(startOfEntropy(config), parts, config)).toEqual({ coefficient: 0.015, entropy: 0.5 });
  });
});
