import { describe, expect, it } from 'vitest';
import { formatValue, numbersFrom, variablesFrom } from '../../../renderer/components/config-form/entry.ts';

describe('variablesFrom', () => {
  it('reads what formatValue writes', () => {
    const value = { enable_thinking: false, level: 2, tone: 'plain words' };
    expect(formatValue(value, '')).toBe('enable_thinking=false, level=2, tone=plain words');
    expect(variablesFrom(formatValue(value, ''))).toEqual(value);
    expect(formatValue({}, '')).toBe('');
    expect(variablesFrom('  ')).toEqual({});
  });

  it('leaves anything else as text, for validation to report', () => {
    expect(variablesFrom('enable_thinking')).toBe('enable_thinking');
    expect(variablesFrom('a=1, b')).toBe('a=1, b');
  });
});

describe('numbersFrom', () => {
  it('takes spaces or commas, and leaves words to validation', () => {
    expect(numbersFrom('1, 0.5 2', false)).toEqual([1, 0.5, 2]);
    expect(numbersFrom('', true)).toBeNull();
    expect(numbersFrom('1 x', false)).toEqual([1, 'x']);
  });
});
