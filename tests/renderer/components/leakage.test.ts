import { describe, expect, it } from 'vitest';
import { heldOutInWords, leakageInWords } from '../../../renderer/components/leakage.ts';

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

describe('records of other tasks', () => {
  it('are not called pairs, and share prompts, not texts', () => {
    expect(leakageInWords({ titles: 2, pairs: 3 }, 8, 'sums')).toBe(
      '2 prompts are in training and test; 3 of 8 test records repeat words of training records',
    );
  });

  it('have what their import found in the list of datasets', () => {
    const row = { testN: 8, task: 'sums' };
    expect(heldOutInWords({ ...row, leakage: { titles: 0, pairs: 3 } })).toBe('3 of 8 repeat');
    expect(heldOutInWords({ ...row, leakage: { titles: 1, pairs: 0 } })).toBe('1 shared prompt');
    expect(heldOutInWords({ ...row, leakage: { titles: 0, pairs: 0 } })).toBe('yes');
    expect(heldOutInWords({ ...row, leakage: null })).toBe('not checked');
    expect(heldOutInWords({ ...row, testN: 0, leakage: null })).toBe('–');
  });
});
