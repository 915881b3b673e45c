import { describe, expect, it } from 'vitest';
import { percent, visibleToken } from '../../../../renderer/playground/chat/probabilities.ts';

describe('percent', () => {
  it('shows three digits, and fewer of what hardly happens', () => {
    expect([0, Math.log(0.621), Math.log(0.0123), Math.log(0.00031), -50].map(percent)).toEqual([
      '100%',
      '62.1%',
      '1.23%',
      '0.031%',
      '< 0.001%',
    ]);
    expect(percent(Number.NaN)).toBe('–');
  });
});

describe('visibleToken', () => {
  it('shows white space and what has no text', () => {
    expect([' the', 'a b', '\n\n', '\t', '', 'x'.repeat(50)].map(visibleToken)).toEqual([
      '␣the',
      'a b',
      '⏎⏎',
      '⇥',
      '(part of a character)',
      `${'x'.repeat(40)}…`,
    ]);
  });
});
