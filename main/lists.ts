/** Lists of any length. A list that is spread into a call lies on the stack, which holds some 125,000 items. */

/** Adds items at a list's end. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const item of more) list.push(item);
}

/** The largest number of a list, at least `from`. */
export function largest(numbers: readonly number[], from = Number.NEGATIVE_INFINITY): number {
  return numbers.reduce((most, number) => Math.max(most, number), from);
}

/** The smallest number of a list, at most `from`. */
export function smallest(numbers: readonly number[], from = Number.POSITIVE_INFINITY): number {
  return numbers.reduce((least, number) => Math.min(least, number), from);
}

/** Parts of a list, of so many items each. */
export function partsOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
