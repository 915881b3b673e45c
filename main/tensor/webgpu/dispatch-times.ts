/** How long each dispatch takes on the GPU, by its own clock: for reports, never for runs. */
import type { ProgramTime } from './protocol.ts';

/** Dawn rounds times to a tenth of a millisecond for the sake of a browser's users; kernels take less. */
export const TIMED_FLAGS = ['disable-dawn-features=timestamp_quantization'];

/** Two a dispatch: as many as WebGPU lets a set have. */
const MOST_QUERIES = 4096;
const BYTES_OF_A_QUERY = 8;
const NANOSECONDS = 1e-9;

interface Timed {
  readonly name: string;
  readonly groups: string;
}

export class DispatchTimes {
  readonly #device: GPUDevice;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  /** The dispatches of the batch that is being encoded. */
  #batch: Timed[] = [];
  #readback: GPUBuffer | null = null;
  readonly #arriving = new Set<Promise<void>>();
  #sums = new Map<string, { name: string; groups: string; dispatches: number; seconds: number }>();

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#queries = device.createQuerySet({ type: 'timestamp', count: MOST_QUERIES });
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    this.#resolved = device.createBuffer({ size: MOST_QUERIES * BYTES_OF_A_QUERY, usage });
  }

  /** What the next dispatch's pass is to be begun with. One too many for the set isn't timed. */
  next(name: string, groups: string): GPUComputePassDescriptor {
    const first = 2 * this.#batch.length;
    if (first === MOST_QUERIES) return {};
    this.#batch.push({ name, groups });
    const writes = { beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
    return { timestampWrites: { querySet: this.#queries, ...writes } };
  }

  /** Before the batch's commands are finished. */
  resolve(encoder: GPUCommandEncoder): void {
    const count = 2 * this.#batch.length;
    if (count === 0) return;
    const size = count * BYTES_OF_A_QUERY;
    this.#readback = this.#device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    encoder.resolveQuerySet(this.#queries, 0, count, this.#resolved, 0);
    encoder.copyBufferToBuffer(this.#resolved, 0, this.#readback, 0, size);
  }

  /** After they were submitted. */
  collect(): void {
    const [batch, readback] = [this.#batch, this.#readback];
    this.#batch = [];
    this.#readback = null;
    if (readback === null) return;
    const arrival = readback.mapAsync(GPUMapMode.READ).then(() => {
      const times = new BigUint64Array(readback.getMappedRange());
      for (const [i, timed] of batch.entries())
        this.#add(timed, NANOSECONDS * Number((times[2 * i + 1] ?? 0n) - (times[2 * i] ?? 0n)));
      readback.destroy();
      this.#arriving.delete(arrival);
    });
    this.#arriving.add(arrival);
  }

  /** All since the last call, the longest first. */
  async take(): Promise<readonly ProgramTime[]> {
    await Promise.all(this.#arriving);
    const sums = [...this.#sums.values()].sort((a, b) => b.seconds - a.seconds);
    this.#sums = new Map();
    return sums;
  }

  #add({ name, groups }: Timed, seconds: number): void {
    const key = `${name} ${groups}`;
    const sum = this.#sums.get(key) ?? { name, groups, dispatches: 0, seconds: 0 };
    sum.dispatches += 1;
    sum.seconds += seconds;
    this.#sums.set(key, sum);
  }
}
