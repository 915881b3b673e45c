import { describe, expect, it } from 'vitest';
import { folded } from '../../main/text/folded.ts';
import * as page from '../../renderer/components/folded.ts';

describe('folded', () => {
  it.each([
    ['İSTANBUL', 'istanbul'],
    ['ısparta', 'ISPARTA'],
    ['Straße', 'STRASSE'],
    ['ΛΌΓΟΣ', 'λόγος'],
    ['Cafe\u0301', 'CAFÉ'],
  ])('finds %s by %s', (text, other) => {
    expect(folded(text)).toBe(folded(other));
    expect(page.folded(text)).toBe(folded(text));
  });

  it('finds the beginning of a Greek word in capitals', () => {
    expect(folded('ΜΕΣΑ').startsWith(folded('ΜΕΣ'))).toBe(true);
  });
});
