/** Where the parts of a picture's caption are drawn. Pure. */

/** Between two parts, in CSS pixels. */
const GAP = 8;

/** The parts of these widths in as many rows as they need. One that is wider than a row has one of its own. */
export function captionPlaces(
  widths: readonly number[],
  room: number,
): readonly { readonly x: number; readonly row: number }[] {
  let [x, row] = [0, 0];
  return widths.map((width) => {
    if (x > 0 && x + width > room) [x, row] = [0, row + 1];
    const place = { x, row };
    x += width + GAP;
    return place;
  });
}
