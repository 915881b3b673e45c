import { describe, expect, it } from 'vitest';
import { placeKey, places } from '../../../main/desktop/places.ts';
import { screens } from '../../../renderer/frame/screens.ts';

describe("the desktop's menu", () => {
  it('names the screens as the page does', () => {
    expect(places).toEqual(screens.map(({ path, label }) => ({ path, label })));
  });

  it('gives the first nine a digit, Settings a comma, and no key that does not exist', () => {
    expect(places.map(({ path }) => placeKey(path))).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `CmdOrCtrl+${digit}`),
      ...[null, null, 'CmdOrCtrl+,'],
    ]);
  });
});
