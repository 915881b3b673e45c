/** How near our numbers must be to the original's: within 1e-5 relative. */
import { expect } from 'vitest';

export const RELATIVE = 1e-5;
/** What float32 makes of sums of terms around 1 that cancel; the originals sum in float32. */
const ABSOLUTE = 1e-7;
/** Two units in the last place of the largest element: what a few float32 steps there and back leave of a small one. */
const LAST_PLACES = 2.4e-7;

/** TRL's lists of values since its last log, NaN as null. */
export type LoggedMetrics = Readonly<Record<string, readonly (number | null)[]>>;

export function expectClose(
  ours: number | undefined,
  theirs: number,
  what: string,
  relative = RELATIVE,
  absolute = ABSOLUTE,
): void {
  const tolerance = relative * Math.abs(theirs) + absolute;
  const distance = Math.abs((ours ?? Number.NaN) - theirs);
  if (!(distance <= tolerance)) expect.fail(`Expected ${what} to be ${theirs} ± ${tolerance}, got ${ours}`);
}

/** Elementwise, the absolute part in proportion to the largest element. */
export function expectAllClose(
  ours: ArrayLike<number> | undefined,
  theirs: readonly number[],
  what: string,
  relative = RELATIVE,
): void {
  expect(ours?.length, `number of values of ${what}`).toBe(theirs.length);
  const largest = theirs.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (const [i, value] of theirs.entries()) {
    const tolerance = relative * Math.abs(value) + LAST_PLACES * largest;
    const distance = Math.abs((ours?.[i] ?? Number.NaN) - value);
    if (!(distance <= tolerance))
      expect.fail(`Expected ${what} [${i}] to be ${value} ± ${tolerance}, got ${ours?.[i]}`);
  }
}

/** The same metrics in both. */
export function expectNames(ours: object, theirs: object): void {
  const what = 'metrics: one that TRL lacks is taken out before the comparison';
  expect(Object.keys(ours).sort(), what).toEqual(Object.keys(theirs).sort());
}

/** Every metric of theirs is among ours with the same value, and ours has no other. */
export function expectMetrics(ours: Readonly<Record<string, number>>, theirs: LoggedMetrics): void {
  expectNames(ours, theirs);
  for (const [name, values] of Object.entries(theirs)) {
    const value = values.at(-1);
    if (value === null || value === undefined) expect(ours[name], name).toBeNaN();
    else expectClose(ours[name], value, name);
  }
}
