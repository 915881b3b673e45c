import { describe, expect, it } from 'vitest';
import { places } from '../../../main/desktop/places.ts';
import { screens } from '../../../renderer/frame/screens.ts';

describe("the desktop's menu", () => {
  it('names the screens as the page does', () => {
    expect(places).toEqual(screens.map(({ path, label }) => ({ path, label })));
  });
});
