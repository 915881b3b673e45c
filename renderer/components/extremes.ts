/** Numbers of lists of any length: a list that is spread into Math.max lies on the stack, which holds some 125,000. */

/** The largest, at least `from`. */
export function largest(numbers: readonly number[], from = Number.NEGATIVE_INFINITY): number {
  return numbers.reduce((most, number) => Math.max(most, number), from);
}

/** The smallest, at most `from`. */
export function smallest(numbers: readonly number[], from = Number.POSITIVE_INFINITY): number {
  return numbers.reduce((least, number) => Math.min(least, number), from);
}
