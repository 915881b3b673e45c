/** Work that is asked for more often than it should be done: at once, then at most once in a while. Pure but for time. */

/** Calls `work` for a key now; again only `everyMs` later, once, when it was asked for meanwhile. */
export function seldom<K>(everyMs: number, nameOf: (key: K) => string, work: (key: K) => void): (key: K) => void {
  /** Keys that rest, and whether they were asked for since. */
  const resting = new Map<string, boolean>();
  return function ask(key) {
    const name = nameOf(key);
    if (resting.has(name)) {
      resting.set(name, true);
      return;
    }
    resting.set(name, false);
    setTimeout(() => {
      const again = resting.get(name);
      resting.delete(name);
      if (again) ask(key);
    }, everyMs);
    work(key);
  };
}
