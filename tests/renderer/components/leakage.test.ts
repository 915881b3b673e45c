import { describe, expect, it } from 'vitest';
import { leakageInWords } from '../../../renderer/components/leakage.ts';

describe('leakageInWords', () => {
  it('counts what test records share with training records', () => {
    expect(leakageInWords({ titles: 0, pairs: 35 }, 64)).toBe('35 of 64 test pairs repeat words of training pairs');
    expect(leakageInWords({ titles: 1, pairs: 0 }, 64)).toBe('1 text is in training and test');
  });

  it('has nothing to say of records that are held out, or were not checked', () => {
    expect(leakageInWords({ titles: 0, pairs: 0 }, 64)).toBeNull();
    expect(leakageInWords(null, 64)).toBeNull();
  });
});
