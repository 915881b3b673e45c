import { describe, expect, it } from 'vitest';
import { linearScale, sheet, verticalAxis } from '../../../main/services/figures/svg.ts';
import { figureFor } from '../../../renderer/replies/figure-colours.ts';

describe('figureFor', () => {
  const svg = sheet('Reward', verticalAxis(linearScale(0, 1, 340, 48), 'reward'));

  it('leaves no white sheet and no black text in the dark theme', () => {
    const dark = figureFor('dark', svg);
    expect(dark).not.toMatch(/"(#fff|#222|#444|#ddd|#000000)"/);
    expect(dark).toContain('fill="#1a1b1e"');
  });

  it('is the file itself in the light theme', () => {
    expect(figureFor('light', svg)).toBe(svg);
  });
});
