/**
 * Bytes of the GPU's buffers, through buffers that can be mapped. A read is waited for at once, or starts before other
 * work and is waited for after that was submitted: a copy is done once what was submitted before it is.
 */

/** A mapped buffer holds at most so many bytes of a read at once. */
const STAGING_BYTES = 64 * 2 ** 20;
const LEAST_BYTES = 4096;

export interface ByteRange {
  readonly offset: number;
  readonly bytes: number;
}

/** Bytes that are being copied to where they can be mapped. */
interface Copied {
  readonly staging: GPUBuffer;
  readonly bytes: number;
}

export class Readback {
  readonly #device: Pick<GPUDevice, 'createBuffer' | 'createCommandEncoder' | 'queue'>;
  /** Used again by the next reads that they are large enough for. */
  readonly #idle: GPUBuffer[] = [];
  /** By their numbers. */
  readonly #started = new Map<number, Copied>();

  constructor(device: Pick<GPUDevice, 'createBuffer' | 'createCommandEncoder' | 'queue'>) {
    this.#device = device;
  }

  /** The bytes, once all work before is done. */
  async read(buffer: GPUBuffer, { offset, bytes }: ByteRange): Promise<ArrayBuffer> {
    const out = new Uint8Array(bytes);
    for (let done = 0; done < bytes; ) {
      const part = Math.min(bytes - done, STAGING_BYTES);
      await this.#take(this.#copy(buffer, { offset: offset + done, bytes: part }), out, done);
      done += part;
    }
    return out.buffer;
  }

  /** Copies the bytes as all work before leaves them, for `finish` to wait for. */
  start(read: number, buffer: GPUBuffer, range: ByteRange): void {
    this.#started.set(read, this.#copy(buffer, range));
  }

  async finish(read: number): Promise<ArrayBuffer> {
    const copied = this.#started.get(read);
    if (copied === undefined) throw new Error(`Expected read ${read} to have started`);
    this.#started.delete(read);
    const out = new Uint8Array(copied.bytes);
    await this.#take(copied, out, 0);
    return out.buffer;
  }

  /** In place of `finish`. A read that never started, for a fault, is none. */
  cancel(read: number): void {
    const copied = this.#started.get(read);
    if (copied === undefined) return;
    this.#started.delete(read);
    this.#idle.push(copied.staging);
  }

  #copy(buffer: GPUBuffer, { offset, bytes }: ByteRange): Copied {
    const staging = this.#staging(bytes);
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, offset, staging, 0, bytes);
    this.#device.queue.submit([encoder.finish()]);
    return { staging, bytes };
  }

  async #take({ staging, bytes }: Copied, out: Uint8Array, at: number): Promise<void> {
    await staging.mapAsync(GPUMapMode.READ, 0, bytes);
    out.set(new Uint8Array(staging.getMappedRange(0, bytes)), at);
    staging.unmap();
    this.#idle.push(staging);
  }

  #staging(bytes: number): GPUBuffer {
    const at = this.#idle.findIndex(({ size }) => size >= bytes);
    const [found] = at < 0 ? [] : this.#idle.splice(at, 1);
    if (found !== undefined) return found;
    for (const small of this.#idle.splice(0)) small.destroy();
    const size = Math.max(LEAST_BYTES, 2 ** Math.ceil(Math.log2(bytes)));
    return this.#device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  }
}
