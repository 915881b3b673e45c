/** How long each dispatch takes on the GPU, by its own clock: for reports, never for runs. */

/** Dawn rounds times to a tenth of a millisecond for the sake of a browser's users; kernels take less. */
export const TIMED_FLAGS = ['disable-dawn-features=timestamp_quantization'];

/** Two a dispatch: as many as WebGPU lets a set have, and far more than a batch asks for. */
const MOST_QUERIES = 4096;
const BYTES_OF_A_QUERY = 8;
const NANOSECONDS = 1e-9;

export class DispatchTimes {
  readonly #device: GPUDevice;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  /** Dispatches of the batch that is being encoded. */
  #batch = 0;
  #readback: GPUBuffer | null = null;
  readonly #arriving = new Set<Promise<void>>();
  /** Of each dispatch, in their order. */
  #seconds: number[] = [];

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#queries = device.createQuerySet({ type: 'timestamp', count: MOST_QUERIES });
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    this.#resolved = device.createBuffer({ size: MOST_QUERIES * BYTES_OF_A_QUERY, usage });
  }

  /** What the next dispatch's pass is to be begun with. */
  next(): GPUComputePassDescriptor {
    const first = 2 * this.#batch++;
    const writes = { beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
    return { timestampWrites: { querySet: this.#queries, ...writes } };
  }

  /** Before the batch's commands are finished. */
  resolve(encoder: GPUCommandEncoder): void {
    const count = 2 * this.#batch;
    if (count === 0) return;
    const size = count * BYTES_OF_A_QUERY;
    this.#readback = this.#device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    encoder.resolveQuerySet(this.#queries, 0, count, this.#resolved, 0);
    encoder.copyBufferToBuffer(this.#resolved, 0, this.#readback, 0, size);
  }

  /** After they were submitted. */
  collect(): void {
    const [count, readback] = [this.#batch, this.#readback];
    this.#batch = 0;
    this.#readback = null;
    if (readback === null) return;
    const first = this.#seconds.length;
    this.#seconds.length += count;
    const arrival = readback.mapAsync(GPUMapMode.READ).then(() => {
      const times = new BigUint64Array(readback.getMappedRange());
      for (let i = 0; i < count; i++)
        this.#seconds[first + i] = NANOSECONDS * Number((times[2 * i + 1] ?? 0n) - (times[2 * i] ?? 0n));
      readback.destroy();
      this.#arriving.delete(arrival);
    });
    // Heard of in `take`: unheard of until then, it would end the thread.
    arrival.catch(() => undefined);
    this.#arriving.add(arrival);
  }

  /** Seconds of each dispatch since the last call. */
  async take(): Promise<Float64Array> {
    await Promise.all(this.#arriving);
    const seconds = Float64Array.from(this.#seconds);
    this.#seconds = [];
    return seconds;
  }
}
