/** Numbers as they stand in a Mantine field, which hands them over as text while they end like 2. or 2.50. Pure. */
export type TypedNumber = number | string;

/** The number; null where there is none. */
export function numberIn(typed: TypedNumber): number | null {
  const number = typed === '' ? Number.NaN : Number(typed);
  return Number.isFinite(number) ? number : null;
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Whether what is typed can be used as it stands. */
export function fitsBounds(typed: TypedNumber, { min, max }: Bounds): boolean {
  const typedNumber = numberIn(typed);
  return typedNumber !== null && typedNumber >= min && typedNumber <= max;
}

/** What a field that is left makes of it: the nearest number within the bounds; of no number, the last one. */
export function settled(typed: TypedNumber, last: number, { min, max }: Bounds): number {
  return Math.min(max, Math.max(min, numberIn(typed) ?? last));
}
