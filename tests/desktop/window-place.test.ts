import { describe, expect, it } from 'vitest';
import { placeToOpen, SMALLEST } from '../../main/desktop/window-place.ts';

const screen = { x: 0, y: 25, width: 1920, height: 1055 };
const place = { x: 100, y: 60, width: 1200, height: 760, maximized: false };
const { maximized: _, ...bounds } = place;
const sizeOnly = { width: 1200, height: 760 };

describe('SMALLEST', () => {
  it('lets the window be as narrow as pages are made for', () => {
    expect(SMALLEST).toEqual({ minWidth: 640, minHeight: 450 });
  });
});

describe('placeToOpen', () => {
  it('uses the default size if nothing is saved', () => {
    expect(placeToOpen(undefined, [screen])).toEqual({ width: 1360, height: 860 });
  });

  it.each([
    ['as it was', place, [screen], bounds],
    ['as it was on the second screen', { ...place, x: 2000 }, [screen, { ...screen, x: 1920 }], { ...bounds, x: 2000 }],
    ['without its screen', place, [{ ...screen, x: 4000 }], sizeOnly],
    ['with its title bar above the screen', { ...place, y: 0 }, [screen], sizeOnly],
    ['with its title bar below', { ...place, y: 1070 }, [screen], sizeOnly],
    ['with too little to grab', { ...place, x: 1850 }, [screen], sizeOnly],
    ['with just enough', { ...place, x: 1800 }, [screen], { ...bounds, x: 1800 }],
    ['without any screen', place, [], sizeOnly],
  ])('%s', (_name, remembered, screens, expected) => {
    expect(placeToOpen(remembered, screens)).toEqual(expected);
  });
});
