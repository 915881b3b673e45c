/** Throttles work per key: at once, then at most once per interval. Pure except for timers. */

/** Calls `work` immediately; calls within the next `everyMs` are merged into one that runs when the interval ends. */
export function throttleByKey<K>(
  everyMs: number,
  nameOf: (key: K) => string,
  work: (key: K) => void,
): (key: K) => void {
  /** Keys inside their interval, and whether another call came in. */
  const waiting = new Map<string, boolean>();
  return function call(key) {
    const name = nameOf(key);
    if (waiting.has(name)) {
      waiting.set(name, true);
      return;
    }
    waiting.set(name, false);
    setTimeout(() => {
      const again = waiting.get(name);
      waiting.delete(name);
      if (again) call(key);
    }, everyMs);
    work(key);
  };
}
