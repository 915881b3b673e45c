/** The time of the host, whose times a page shows: a browser elsewhere may have a clock that is set otherwise. */
let ahead = 0;

/** Called with the host's time as it arrives. */
export function heardHostTime(at: number): void {
  ahead = at - Date.now();
}

/** Now, by the host's clock; by this one's until the host was heard. */
export function hostNow(): number {
  return Date.now() + ahead;
}
