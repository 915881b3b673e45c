import { describe, expect, it } from 'vitest';
import { tableLines } from '../../main/commands/table.ts';
import { clipped, columnsOf, padded, pieces } from '../../main/commands/terminal-text.ts';

describe('text in a terminal', () => {
  it('counts two columns for East Asian characters and emoji, none for accents and colours', () => {
    expect(['word', '漢字', 'ｱ', '👩‍👩‍👧', 'e\u0301', '\x1b[31mred\x1b[0m'].map(columnsOf)).toEqual([4, 4, 1, 2, 1, 3]);
  });

  it('cuts at the window’s edge, between characters', () => {
    expect(clipped('漢字 word', 9)).toBe('漢字 word');
    expect(clipped('漢字 word', 6)).toBe('漢字 …');
    expect(clipped('漢字漢字', 4)).toBe('漢…');
    expect(clipped('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
    expect(clipped('word', 1)).toBe('…');
  });

  it('breaks what has no spaces into pieces that fit, a character that is wider alone', () => {
    expect(pieces('漢字漢字漢', 5)).toEqual(['漢字', '漢字', '漢']);
    expect(pieces('👩‍👩‍👧👩‍👩‍👧', 3)).toEqual(['👩‍👩‍👧', '👩‍👩‍👧']);
    expect(pieces('漢字', 1)).toEqual(['漢', '字']);
    expect(pieces('', 3)).toEqual(['']);
  });

  it('lines up the columns of tables', () => {
    expect(padded('字', 4)).toBe('字  ');
    expect(padded('字', 4, 'start')).toBe('  字');
    expect(
      tableLines(
        ['name', 'words'],
        [
          ['漢字漢字', 7],
          ['a', 10],
        ],
      ),
    ).toEqual(['name      words', '漢字漢字      7', 'a            10']);
  });
});
