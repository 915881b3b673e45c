/** Blocks this thread; for waits of milliseconds within work that is synchronous throughout. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
