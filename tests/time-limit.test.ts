import { describe, expect, it } from 'vitest';
import { withinTime } from '../main/time-limit.ts';

const late = () => new Error('too slow');
const endless = () => /^(a+)+$/.test(`${'a'.repeat(50)}!`);

describe('withinTime', () => {
  it('gives what the call gives or throws', () => {
    expect(withinTime(1000, () => withinTime(1000, () => [1], late), late)).toEqual([1]);
    expect(() =>
      withinTime(
        1000,
        () => {
          throw new TypeError('own');
        },
        late,
      ),
    ).toThrow(TypeError);
  });

  it('ends a regular expression that never ends, and works again after it', () => {
    expect(() => withinTime(50, endless, late)).toThrow('too slow');
    expect(() =>
      withinTime(
        1000,
        () => withinTime(50, endless, late),
        () => new Error('outer'),
      ),
    ).toThrow('too slow');
    expect(withinTime(1000, () => 1, late)).toBe(1);
  });
});
