import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isUnfinished, numberFault, readNumber } from '../../../renderer/components/typed-number.ts';

describe('readNumber', () => {
  it('reads decimal marks, groups and digits as people write them', () => {
    const texts = [
      '0.5',
      '0,5',
      ' 1e-5 ',
      '5E−6',
      '1 000',
      '1\u00a0000,5',
      '１２',
      '٢٥',
      '۱۲٫۵',
      '๒๕',
      '1’000',
      '.5',
      '−3',
    ];
    expect(texts.map((text) => readNumber(text))).toEqual([
      0.5, 0.5, 1e-5, 5e-6, 1000, 1000.5, 12, 25, 12.5, 25, 1000, 0.5, -3,
    ]);
  });

  it('takes nothing for another number', () => {
    const texts = ['1,000', '1.000,5', '1,000.5', '1 2', '12 34', '12abc', '0x10', 'Infinity', '', '-', '1e', '1-5'];
    expect(texts.filter((text) => readNumber(text) !== null)).toEqual([]);
  });

  it('is used by every field: those of browsers and of Mantine drop the marks that they do not know', () => {
    const renderer = join(import.meta.dirname, '../../../renderer');
    const files = globSync('**/*.tsx', { cwd: renderer });
    expect(files.length).toBeGreaterThan(100);
    const others = /type="number"|\bNumberInput\b/;
    expect(files.filter((file) => others.test(readFileSync(join(renderer, file), 'utf8')))).toEqual([]);
  });

  it('takes groups for thousands where numbers are whole', () => {
    expect(['1,000', '1.000', '12,345,678', '0,125'].map((text) => readNumber(text, true))).toEqual([
      1000, 1000, 12_345_678, 0.125,
    ]);
  });
});

describe('numberFault', () => {
  it('asks for a number like those that the field takes', () => {
    expect(numberFault('1,000', false)).toBe('Enter a number, such as 1000 or 0.5');
    expect(numberFault('1,5', true)).toBe('Enter a whole number, such as 1000');
    expect([numberFault('', true), numberFault('1,5', false), numberFault('1,000', true)]).toEqual([null, null, null]);
  });
});

describe('isUnfinished', () => {
  it('is what may become a number with the next keys', () => {
    expect(['-', '1e', '1e-', '2,5E−', '.'].every(isUnfinished)).toBe(true);
    expect(['x', '1,000', '1e-5x'].some(isUnfinished)).toBe(false);
  });
});
