import { describe, expect, it } from 'vitest';
import { screens } from '../../../renderer/frame/screens.ts';
import { placeBeside } from '../../../renderer/frame/tour-place.ts';
import { tourSteps } from '../../../renderer/frame/tour-steps.ts';

const card = { width: 330, height: 150 };

describe('placeBeside', () => {
  it.each([
    // A link of the rail, near the top and near the bottom, and one of the narrow rail of a small window.
    [
      { left: 6, top: 60, width: 72, height: 46 },
      { width: 1280, height: 800 },
    ],
    [
      { left: 6, top: 700, width: 72, height: 46 },
      { width: 1280, height: 800 },
    ],
    [
      { left: 4, top: 300, width: 40, height: 36 },
      { width: 500, height: 350 },
    ],
    // The status bar, and something that leaves room on its left or below only.
    [
      { left: 0, top: 772, width: 1280, height: 28 },
      { width: 1280, height: 800 },
    ],
    [
      { left: 0, top: 322, width: 640, height: 28 },
      { width: 640, height: 350 },
    ],
    [
      { left: 900, top: 0, width: 380, height: 800 },
      { width: 1280, height: 800 },
    ],
    [
      { left: 0, top: 0, width: 1280, height: 40 },
      { width: 1280, height: 800 },
    ],
  ])('never covers its target, and stays in the window (%#)', (target, view) => {
    const { left, top } = placeBeside(target, card, view);
    const apart =
      left >= target.left + target.width ||
      left + card.width <= target.left ||
      top >= target.top + target.height ||
      top + card.height <= target.top;
    expect(apart).toBe(true);
    expect(left >= 0 && top >= 0 && left + card.width <= view.width && top + card.height <= view.height).toBe(true);
  });
});

describe('tourSteps', () => {
  it('point at screens that exist, briefly', () => {
    const paths = screens.map(({ path }) => path);
    for (const { target, text } of tourSteps) {
      if (target.kind === 'screen') expect(paths).toContain(target.path);
      expect(text.length).toBeLessThan(180);
    }
    expect(tourSteps.length).toBeLessThan(8);
  });
});
