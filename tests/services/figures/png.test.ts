import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { svgToPng } from '../../../main/services/figures/png.ts';
import { sheet } from '../../../main/services/figures/svg.ts';

describe('svgToPng', () => {
  it('draws the letters of Latin, Greek and Cyrillic names, which differ, without a font of the system', async () => {
    const resources = join(import.meta.dirname, '../../../resources');
    // A letter that no font has is drawn as one and the same box.
    const letters = ['ł', 'ğ', 'Ж', 'Я', 'λ', 'ớ', '中'];
    const pictures = await Promise.all(letters.map((letter) => svgToPng(sheet(letter, []), { resources }, [])));
    expect(new Set(pictures.map((picture) => Buffer.from(picture).toString('base64'))).size).toBe(letters.length);
  });
});
