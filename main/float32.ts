/** What float32, in which models and rewards are computed, can hold. */

/** The range in messages. */
export const FLOAT32_RANGE = '±3.4e38';

/** Whether a number is finite in float32 too. */
export function fitsFloat32(value: number): boolean {
  return Number.isFinite(Math.fround(value));
}

/** What is wrong with a reward, after "expected … to be"; null: nothing. `told`: as it came, null: it didn't. */
export function numberFault(value: number, told: string | null): string | null {
  if (fitsFloat32(value)) return null;
  if (!Number.isFinite(value)) return `a finite number, got ${told ?? 'none'}`;
  return `a number within ${FLOAT32_RANGE}, the range of float32, got ${value}`;
}
