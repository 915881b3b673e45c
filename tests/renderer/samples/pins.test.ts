import { describe, expect, it } from 'vitest';
import { keyText, pinName, readPins, togglePin } from '../../../renderer/samples/pins.ts';

const key = (index: number) => ({ runId: 1, step: 10, group: 0, index });

describe('togglePin', () => {
  it('pins, unpins, and accepts no more than four', () => {
    const four = [0, 1, 2, 3].map(key);
    expect(togglePin([], key(0))).toEqual([key(0)]);
    expect(togglePin(four, key(1))).toEqual([key(0), key(2), key(3)]);
    expect(togglePin(four, key(4))).toBe(four);
  });
});

describe('pinName', () => {
  it('tells two completions of one group apart, and two groups of one record', () => {
    const sample = { runName: 'first', recordId: 'r-1' };
    expect(pinName(key(2), sample)).toBe('first · step 10 · r-1 · group 1, completion 3');
    expect(pinName(key(2), undefined)).toBe('run 1 · step 10 · group 1, completion 3');
    const keys = [key(0), key(1), { ...key(0), group: 1 }];
    expect(new Set(keys.map((pin) => pinName(pin, sample))).size).toBe(3);
  });
});

describe('readPins', () => {
  it('reads stored pins and ignores invalid ones', () => {
    expect(readPins([key(0), key(1)].map(keyText).join(' '))).toEqual([key(0), key(1)]);
    expect(readPins('1.2.3 nonsense 1.10.0.5')).toEqual([key(5)]);
    expect(readPins(null)).toEqual([]);
  });
});
