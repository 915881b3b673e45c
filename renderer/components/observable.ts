/** A value that components follow by useSyncExternalStore. */
export interface Observable<T> {
  readonly get: () => T;
  readonly set: (next: T) => void;
  /** Calls the listener after each change; returns what unsubscribes it. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function observable<T>(first: T): Observable<T> {
  const listeners = new Set<() => void>();
  let value = first;
  return {
    get: () => value,
    set: (next) => {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
