/** The path of a sparkline. Pure. */
import { largest, smallest } from '../components/extremes.ts';

export interface SparkBox {
  readonly width: number;
  readonly height: number;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Room for the line's width and end marker. */
const INSET = 2;

/** An SVG path through the values, and its end point; null or NaN breaks the line. */
export function sparkPath(
  values: readonly (number | null)[],
  { width, height, min, max }: SparkBox,
): { readonly path: string; readonly end: readonly [x: number, y: number] | null } {
  const known = values.filter((value) => value !== null && Number.isFinite(value)) as readonly number[];
  const low = smallest(known, min ?? undefined);
  const high = largest(known, max ?? undefined);
  const across = (index: number): number =>
    INSET + (values.length < 2 ? 1 : index / (values.length - 1)) * (width - 2 * INSET);
  const down = (value: number): number =>
    low === high ? height / 2 : height - INSET - ((value - low) / (high - low)) * (height - 2 * INSET);
  let path = '';
  let isGap = true;
  let end: readonly [number, number] | null = null;
  for (const [index, value] of values.entries()) {
    if (value === null || !Number.isFinite(value)) {
      isGap = true;
      continue;
    }
    const point = [rounded(across(index)), rounded(down(value))] as const;
    path += `${isGap ? 'M' : 'L'}${point[0]} ${point[1]}`;
    isGap = false;
    end = point;
  }
  return { path, end };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
