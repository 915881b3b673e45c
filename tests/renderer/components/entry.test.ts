import { describe, expect, it } from 'vitest';
import {
  faultInWords,
  formatValue,
  numbersFrom,
  variablesFrom,
} from '../../../renderer/components/config-form/entry.ts';

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

describe('faultInWords', () => {
  it('asks for a number where a word was typed', () => {
    const fault = { message: 'expected a number, got "abc"', remedy: null };
    expect(faultInWords('number', 'abc', fault)).toBe('Enter a number, such as 1000 or 0.5');
    expect(faultInWords('numbers', [1, 'x'], fault)).toBe('Enter numbers such as 0.5, separated by spaces or commas');
  });

  it('asks for a value where there is none', () => {
    const fault = { message: 'expected a text that is not empty, got ""', remedy: null };
    expect(faultInWords('text', '', fault)).toBe('Enter a value');
    const other = { message: 'expected a checkpoint with this method', remedy: null };
    expect(faultInWords('text', '', other)).toBe(other.message);
  });

  it('says which numbers a field takes, and how to fix it', () => {
    const fault = { message: 'expected at least 2, got 1', remedy: 'Use two or more.' };
    expect(faultInWords('number', 1, fault)).toBe('expected at least 2, got 1 Use two or more.');
    expect(faultInWords('choice', 'adam', { message: 'expected one of sgd', remedy: null })).toBe(
      'expected one of sgd',
    );
  });
});

describe('numbersFrom', () => {
  it('takes spaces or commas, and leaves words to validation', () => {
    expect(numbersFrom('1, 0.5 2', false)).toEqual([1, 0.5, 2]);
    expect(numbersFrom('', true)).toBeNull();
    expect(numbersFrom('1 x', false)).toEqual([1, 'x']);
    expect(numbersFrom('42, 43,44', false)).toEqual([42, 43, 44]);
  });

  it('reads decimal commas where they can be nothing else, and leaves what is either to validation', () => {
    expect(numbersFrom('0,5 0,25', false)).toEqual([0.5, 0.25]);
    expect(numbersFrom('0,5, 0,25', false)).toEqual([0.5, 0.25]);
    expect(numbersFrom('1e-5; 2,5e-5', false)).toEqual([1e-5, 2.5e-5]);
    expect(numbersFrom('0,5 1', false)).toEqual(['0,5 1']);
  });
});
