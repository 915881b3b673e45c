/** Where a card goes beside what it points at, so that it never covers it. Pure. */

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const GAP = 12;
const EDGE = 8;

/** The first side of the target with room for the card: right, above, below, left; otherwise the one with most room. */
export function placeBeside(target: Box, card: Size, view: Size): { readonly left: number; readonly top: number } {
  const right = target.left + target.width;
  const bottom = target.top + target.height;
  const rooms = [
    { side: 'right', room: view.width - right, needs: card.width },
    { side: 'above', room: target.top, needs: card.height },
    { side: 'below', room: view.height - bottom, needs: card.height },
    { side: 'left', room: target.left, needs: card.width },
  ] as const;
  const fitting = rooms.find(({ room, needs }) => room >= needs + GAP + EDGE);
  const { side } = fitting ?? rooms.reduce((best, one) => (one.room - one.needs > best.room - best.needs ? one : best));
  const inWidth = (left: number): number => clamp(left, view.width - card.width);
  const inHeight = (top: number): number => clamp(top, view.height - card.height);
  switch (side) {
    case 'right':
      return { left: right + GAP, top: inHeight(target.top + target.height / 2 - card.height / 2) };
    case 'left':
      return { left: target.left - GAP - card.width, top: inHeight(target.top + target.height / 2 - card.height / 2) };
    case 'above':
      return { left: inWidth(target.left), top: target.top - GAP - card.height };
    case 'below':
      return { left: inWidth(target.left), top: bottom + GAP };
  }
}

/** Within the window, with some room to its edges. */
function clamp(at: number, most: number): number {
  return Math.max(EDGE, Math.min(at, most - EDGE));
}
