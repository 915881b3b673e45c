/** The ladder's geometry: rungs that rise from left to right, two strands that cross at each of them. Pure. */

export interface LadderShape {
  readonly width: number;
  readonly height: number;
  /** The centre of each rung. */
  readonly rungs: readonly (readonly [x: number, y: number])[];
  /** Both strands from each rung to the next. */
  readonly links: readonly { readonly a: string; readonly b: string }[];
}

/** Half of a rung's circle, and the room above and below it. */
const MARGIN = 34;
/** How far the strands swing apart between two rungs. */
const SWING = 26;

/** A ladder of `count` rungs in columns of `column` pixels, rising by `rise` in all. */
export function ladderShape(count: number, column: number, rise: number): LadderShape {
  const rungs = Array.from({ length: count }, (_, i): readonly [number, number] => {
    const share = count < 2 ? 0 : i / (count - 1);
    return [(i + 0.5) * column, MARGIN + (1 - share) * rise];
  });
  const links = rungs.slice(1).map(([x2, y2], i) => {
    const [x1, y1] = rungs[i] ?? [0, 0];
    // The upper strand passes below at each rung, which makes it a braid.
    const side = i % 2 === 0 ? -SWING : SWING;
    const curve = (swing: number): string =>
      `M${x1} ${y1} C${x1 + column * 0.35} ${y1 + swing} ${x2 - column * 0.35} ${y2 + swing} ${x2} ${y2}`;
    return { a: curve(side), b: curve(-side) };
  });
  return { width: count * column, height: 2 * MARGIN + rise, rungs, links };
}
