/**
 * GPU buffers are made once and used again: making one costs more than most dispatches, and a step that takes its
 * buffers in the same order finds the same ones, so that their bind groups are found again too.
 */

export interface GpuBuffer {
  readonly id: number;
  readonly bytes: number;
}

interface FreeBuffer extends GpuBuffer {
  /** The batch in which it was given back: until that is posted, commands that use it are still to come. */
  readonly batch: number;
}

/** Owns every buffer's number and size; what is really made and destroyed is left to its user. */
export class BufferPool {
  readonly #free = new Map<number, FreeBuffer[]>();
  /** Numbers of buffers that may not exist. */
  readonly #doubtful = new Set<number>();
  #next = 1;
  /** The first number that nobody has waited for. */
  #unconfirmed = 1;
  #bytes = 0;
  #freeBytes = 0;
  #peak = 0;
  #count = 0;

  /** Bytes of all buffers, free ones included. */
  get bytes(): number {
    return this.#bytes;
  }

  get peakBytes(): number {
    return this.#peak;
  }

  /** The most from here on. */
  restartPeak(): void {
    this.#peak = this.#bytes;
  }

  /** Buffers that exist. */
  get count(): number {
    return this.#count;
  }

  /** Bytes that are in use. */
  get usedBytes(): number {
    return this.#bytes - this.#freeBytes;
  }

  /** A free buffer of at least `bytes`, unused since before `batch`; null: there is none. */
  take(bytes: number, batch = Number.POSITIVE_INFINITY): GpuBuffer | null {
    const list = this.#free.get(roundedSize(bytes));
    if (list === undefined) return null;
    // The one given back last: a step's buffers come round in the same order.
    const at = list.findLastIndex((buffer) => buffer.batch < batch);
    if (at < 0) return null;
    const [found] = list.splice(at, 1);
    if (found === undefined) return null;
    this.#freeBytes -= found.bytes;
    return found;
  }

  /** The number of a buffer that is to be made. */
  add(bytes: number): GpuBuffer {
    const buffer = { id: this.#next++, bytes: roundedSize(bytes) };
    this.#bytes += buffer.bytes;
    this.#peak = Math.max(this.#peak, this.#bytes);
    this.#count++;
    return buffer;
  }

  /** Whether the buffer is kept to be taken again; otherwise its user destroys it. */
  give(buffer: GpuBuffer, batch: number): boolean {
    if (this.#doubtful.delete(buffer.id)) {
      this.forget(buffer);
      return false;
    }
    const list = this.#free.get(buffer.bytes) ?? [];
    list.push({ id: buffer.id, bytes: buffer.bytes, batch });
    this.#free.set(buffer.bytes, list);
    this.#freeBytes += buffer.bytes;
    return true;
  }

  /** The number of the buffer that is made next. */
  get next(): number {
    return this.#next;
  }

  /** Everything went well that was asked for before the buffer of this number: those before it exist. */
  confirm(next: number): void {
    this.#unconfirmed = Math.max(this.#unconfirmed, next);
  }

  /** One of the buffers since then wasn't made, so none of them is taken again; the numbers of those that lie free. */
  doubt(): number[] {
    for (; this.#unconfirmed < this.#next; this.#unconfirmed++) this.#doubtful.add(this.#unconfirmed);
    const free = this.#drop(({ id }) => this.#doubtful.has(id));
    for (const id of free) this.#doubtful.delete(id);
    return free;
  }

  /** Takes a buffer that couldn't be made out of the count. */
  forget(buffer: GpuBuffer): void {
    this.#bytes -= buffer.bytes;
    this.#count--;
  }

  /** Gives up free buffers, the largest first, until at least `bytes` are given up or none is left; their numbers. */
  trim(bytes: number): number[] {
    let freed = 0;
    return this.#drop((buffer) => {
      if (freed >= bytes) return false;
      freed += buffer.bytes;
      return true;
    });
  }

  /** Gives up buffers that have been free since before a batch: sizes that a run no longer uses. */
  dropStale(batch: number): number[] {
    return this.#drop((buffer) => buffer.batch < batch);
  }

  #drop(goes: (buffer: FreeBuffer) => boolean): number[] {
    const gone: FreeBuffer[] = [];
    for (const size of [...this.#free.keys()].sort((a, b) => b - a)) {
      const kept = (this.#free.get(size) ?? []).filter((buffer) => {
        if (!goes(buffer)) return true;
        gone.push(buffer);
        return false;
      });
      if (kept.length === 0) this.#free.delete(size);
      else this.#free.set(size, kept);
    }
    const bytes = gone.reduce((sum, buffer) => sum + buffer.bytes, 0);
    this.#bytes -= bytes;
    this.#freeBytes -= bytes;
    this.#count -= gone.length;
    return gone.map(({ id }) => id);
  }
}

/** The coarsest step of sizes: an eighth of a large weight would be too much to waste. */
const MOST_STEP = 4 * 2 ** 20;

/** Sizes in steps of an eighth of a power of two: at most 12.5% too much, and few enough to be found again. */
export function roundedSize(bytes: number): number {
  if (bytes <= 256) return 256;
  const step = Math.min(MOST_STEP, Math.max(256, 2 ** (Math.floor(Math.log2(bytes)) - 3)));
  return Math.ceil(bytes / step) * step;
}
