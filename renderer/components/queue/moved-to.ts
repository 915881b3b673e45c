/** The items with one of them at another place. Pure. */
export function movedTo<T>(items: readonly T[], item: T, to: number): readonly T[] {
  return items.filter((other) => other !== item).toSpliced(to, 0, item);
}
