/** Numbers as they stand in a Mantine field, which hands them over as text while they end like 2. or 2.50. Pure. */
export type TypedNumber = number | string;

/** The number; null where there is none. */
export function numberIn(typed: TypedNumber): number | null {
  const number = typed === '' ? Number.NaN : Number(typed);
  return Number.isFinite(number) ? number : null;
}
