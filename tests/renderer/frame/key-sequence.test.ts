import { describe, expect, it } from 'vitest';
import { createKeySequence } from '../../../renderer/frame/key-sequence.ts';

describe('createKeySequence', () => {
  it('tells a key after g from one that stands alone', () => {
    const sequence = createKeySequence();
    const taken = ['j', 'g', 'r', 'j'].map((key, i) => sequence.take(key, 100 * i, false));
    expect(taken).toEqual(['first', 'first', 'second', 'first']);
  });

  it('takes a second g as the end of the first', () => {
    const sequence = createKeySequence();
    expect(['g', 'g', 'r'].map((key) => sequence.take(key, 0, false))).toEqual(['first', 'second', 'first']);
  });

  it('forgets a g after a second and a half, and after a key that something else handled', () => {
    const sequence = createKeySequence();
    sequence.take('g', 0, false);
    expect(sequence.take('r', 1501, false)).toBe('first');
    sequence.take('g', 2000, false);
    sequence.reset();
    expect(sequence.take('r', 2100, false)).toBe('first');
  });

  it('ignores a held g and a held second key, not other held keys', () => {
    const sequence = createKeySequence();
    expect(sequence.take('j', 0, true)).toBe('first');
    sequence.take('g', 0, false);
    expect(sequence.take('g', 500, true)).toBe('ignored');
    expect(sequence.take('c', 600, false)).toBe('second');
    expect(sequence.take('c', 700, true)).toBe('ignored');
    expect(sequence.take('c', 800, false)).toBe('first');
  });
});
