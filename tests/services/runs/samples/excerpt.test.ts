import { describe, expect, it } from 'vitest';
import { excerptOf, hasHit } from '../../../../main/services/runs/samples/excerpt.ts';

const shown = (text: string, search?: string): string =>
  excerptOf(text, search)
    .map(({ text: part, hit }) => (hit ? `[${part}]` : part))
    .join('');

describe('excerptOf', () => {
  it('marks whole words, and the beginning of the last word from three letters on', () => {
    expect(shown('The fox, the foxes and a box', 'the fox')).toBe('[The] [fox], [the] [foxes] and a box');
    expect(shown('The fox and foxes', 'foxes fo')).toBe('The fox and [foxes]');
  });

  it('takes words as the index does: without case and accents, apart at punctuation', () => {
    expect(shown("Élan isn't (done)", 'elan isn DONE')).toBe("[Élan] [isn]'t ([done])");
  });

  it('marks parts of a text that has no spaces', () => {
    expect(shown('這是中文測試，測試 fox', '測試 fox')).toBe('這是中文[測試]，[測試] [fox]');
  });

  it('cuts a long text at words around its first hit', () => {
    const text = `${'before '.repeat(60)}needle ${'after '.repeat(60)}`;
    const piece = shown(text, 'needle');
    expect(piece).toMatch(/^… (before )+\[needle\] (after )+after …$/);
    expect(piece.length).toBeLessThan(240);
    expect(shown('word '.repeat(100))).toMatch(/^word .*word …$/);
  });

  it('cuts a text without spaces too', () => {
    expect(shown('x'.repeat(500)).length).toBeLessThan(230);
    expect(shown('', 'fox')).toBe('');
  });
});

describe('hasHit', () => {
  it('tells whether any word of the search is there', () => {
    expect(hasHit('a quick fox', 'fox hen')).toBe(true);
    expect(hasHit('a quick fox', 'hen')).toBe(false);
  });
});
