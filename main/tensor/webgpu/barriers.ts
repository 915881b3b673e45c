/** Dispatches that have to wait for one before: they read what it writes, or write what it uses. */
import type { GpuBuffer } from './pool.ts';

export class Barriers {
  count = 0;
  /** Buffers that were used since the last one: whether they were written. */
  readonly #touched = new Map<number, boolean>();

  /** Takes note of a dispatch with these buffers. */
  add(buffers: readonly GpuBuffer[], writes: readonly boolean[]): void {
    const waits = buffers.some(({ id }, i) => this.#touched.get(id) || (this.#touched.has(id) && writes[i]));
    if (waits) {
      this.count++;
      this.#touched.clear();
    }
    buffers.forEach(({ id }, i) => {
      this.#touched.set(id, writes[i] === true || this.#touched.get(id) === true);
    });
  }
}
