/**
 * The GPU as the trainer's thread sees it: buffers by number, programs that are queued, reads that wait. All that is
 * asked is recorded and posted in batches, so that the other thread encodes while this one continues.
 */
import { BraidError } from '../../errors.ts';
import type { PendingRead } from '../ops/pending-read.ts';
import { Barriers } from './barriers.ts';
import { inElectron, mib, outOfMemory, tooLarge } from './faults.ts';
import type { GpuCounts, GpuOptions } from './gpu-options.ts';
import { type Line, openLine } from './line.ts';
import type { MatrixUnit } from './matrix-units.ts';
import { BufferPool, type GpuBuffer, roundedSize } from './pool.ts';
import type { Program } from './program.ts';
import { type Dispatched, type ProgramTime, sumProgramTimes } from './program-times.ts';
import {
  type AdapterFacts,
  type Batch,
  COMMAND,
  PARAMETER_BYTES,
  type ProgramSource,
  type Request,
  type Upload,
} from './protocol.ts';
import { BATCH_WORK, MOST_WORK, WORK_OF_A_BYTE } from './work.ts';

/** Dispatches after which a batch is posted, so that the GPU begins while more is recorded. */
const BATCH_DISPATCHES = 64;

/** Bytes of uploads after which a batch is posted, so that they don't pile up. */
const BATCH_UPLOAD_BYTES = 32 * 2 ** 20;

/** Batches after which buffers that nothing has asked for are given up. */
const STALE_BATCHES = 2000;

/** Buffers of this size are waited for when they are made. */
const LARGE_BYTES = 64 * 2 ** 20;

const PARAMETER_WORDS = PARAMETER_BYTES / 4;

const wholeWords = (bytes: number): number => 4 * Math.ceil(bytes / 4);

const isOutOfMemory = (error: unknown): boolean => error instanceof BraidError && error.code === 'OUT_OF_MEMORY';

export class Gpu {
  readonly adapter: AdapterFacts;
  readonly #line: Line;
  readonly #pool = new BufferPool();
  readonly #programs = new Map<Program, number>();
  readonly #used = new Map<string, number>();
  /** Bytes that may be used; null: no bound but the device's, until a memory plan sets one. */
  budgetBytes: number | null;
  /** When waiting is given up, by performance.now: a GPU that is only tried must not hold up what tries it. */
  deadline = Number.POSITIVE_INFINITY;
  /** Bytes of the largest buffer that a program can be given. */
  readonly largestBuffer: number;
  /** What products are written for: the adapter has it, and its products were found to be right; null: they use none. */
  matrixUnit: MatrixUnit | null;
  /** Whether attention takes the unit too, where a run computes in bfloat16: it was found to be right. */
  attentionByUnits = true;
  /** Operations that one dispatch may take; kernels split what takes more. */
  mostWork: number;
  #creates: (readonly [number, number])[] = [];
  #destroys: number[] = [];
  #newPrograms: ProgramSource[] = [];
  #uploads: Upload[] = [];
  #uploadBytes = 0;
  #commands = new Int32Array(4096);
  #length = 0;
  #parameters = new Uint32Array(BATCH_DISPATCHES * PARAMETER_WORDS);
  #floats = new Float32Array(this.#parameters.buffer);
  #pendingDispatches = 0;
  #pendingWork = 0;
  #batch = 0;
  #dispatches = 0;
  readonly #barriers = new Barriers();
  #reads = 0;
  #boundBytes = 0;
  /** What was recorded since times were asked for; null: dispatches aren't timed. */
  readonly #timed: Dispatched[] | null;
  /** What the next dispatches are for, in the words of who asks for their `times`. */
  label = '';

  private constructor(
    line: Line,
    adapter: AdapterFacts,
    { budgetBytes, largestBuffer, mostWork, matrixUnits = true, timed = false }: GpuOptions,
  ) {
    this.#line = line;
    this.adapter = adapter;
    this.budgetBytes = budgetBytes ?? null;
    const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
    this.largestBuffer = Math.min(maxBufferSize, maxStorageBufferBindingSize, largestBuffer ?? maxBufferSize);
    this.mostWork = mostWork ?? MOST_WORK;
    this.matrixUnit = matrixUnits ? adapter.matrixUnit : null;
    this.#timed = timed ? [] : null;
  }

  /** Starts the device's thread. Throws a BraidError that says why where there is no GPU. */
  static open(options: GpuOptions = {}): Gpu {
    if (process.versions.electron !== undefined) throw inElectron();
    const line = openLine();
    try {
      const { adapter } = line.ask(
        {
          kind: 'open',
          adapter: options.adapter ?? null,
          checksOnly: options.checksOnly ?? false,
          timed: options.timed ?? false,
        },
        options.deadline,
      );
      if (adapter === undefined) throw new Error('Expected the opened device to say what it is');
      return new Gpu(line, adapter, options);
    } catch (error) {
      void line.end();
      throw error;
    }
  }

  get counts(): GpuCounts {
    const { count, bytes, peakBytes } = this.#pool;
    return {
      dispatches: this.#dispatches,
      barriers: this.#barriers.count,
      batches: this.#batch,
      reads: this.#reads,
      buffers: count,
      bytes,
      peakBytes,
      boundBytes: this.#boundBytes,
      byProgram: this.#used,
    };
  }

  /** A buffer for results. Its contents are whatever was there before. */
  take(bytes: number): GpuBuffer {
    return this.#pool.take(bytes) ?? this.#make(bytes);
  }

  /** A buffer that may be written from here: no command that is still to be posted uses it. */
  takeForUpload(bytes: number): GpuBuffer {
    return this.#pool.take(bytes, this.#batch) ?? this.#make(bytes);
  }

  give(buffer: GpuBuffer): void {
    if (!this.#pool.give(buffer, this.#batch)) this.#destroys.push(buffer.id);
  }

  /** Writes into a buffer that was taken for it. The bytes are handed over: they can't be used here any more. */
  upload(buffer: GpuBuffer, bytes: ArrayBuffer, offset = 0): void {
    this.#uploads.push({ buffer: buffer.id, offset, bytes });
    this.#uploadBytes += bytes.byteLength;
    if (this.#uploadBytes > BATCH_UPLOAD_BYTES) this.flush();
  }

  copy(from: GpuBuffer, fromWord: number, to: GpuBuffer, toWord: number, words: number): void {
    this.#record(COMMAND.copy, from.id, fromWord, to.id, toWord, words);
  }

  /** Sets words to zero. */
  clear(buffer: GpuBuffer, firstWord: number, words: number): void {
    this.#record(COMMAND.clear, buffer.id, firstWord, words);
  }

  /**
   * Queues a program over `groups` workgroups; more than a dimension holds are laid out over two. `work` counts its
   * operations where they are many for the bytes that it reads.
   */
  run(
    code: Program,
    buffers: readonly GpuBuffer[],
    parameters: readonly number[],
    groups: number | readonly [number, number, number],
    work = 0,
  ): void {
    if (buffers.length !== code.writes.length || parameters.length !== code.parameterTypes.length)
      throw new Error(
        `Expected ${code.writes.length} buffers and ${code.parameterTypes.length} parameters for "${code.name}", got ${buffers.length} and ${parameters.length}`,
      );
    const [x, y, z] = typeof groups === 'number' ? this.#spread(groups) : groups;
    if (x * y * z === 0) return;
    this.#writeParameters(code, parameters);
    this.#record(COMMAND.dispatch, this.#idOf(code), x, y, z, this.#pendingDispatches, buffers.length);
    this.#record(...buffers.map(({ id }) => id));
    this.#barriers.add(buffers, code.writes);
    this.#pendingDispatches++;
    this.#dispatches++;
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.bytes, 0);
    this.#boundBytes += bytes;
    this.#timed?.push({ label: this.label, name: code.name, groups: `${x} × ${y} × ${z}`, work, bytes });
    this.#pendingWork += Math.max(work * Math.min(1, MOST_WORK / this.mostWork), WORK_OF_A_BYTE * bytes);
    this.#used.set(code.name, (this.#used.get(code.name) ?? 0) + 1);
    if (this.#pendingDispatches === BATCH_DISPATCHES || this.#pendingWork > BATCH_WORK) this.flush();
  }

  /** Waits for all work so far and gives the buffer's bytes. */
  read(buffer: GpuBuffer, bytes: number, offset = 0): ArrayBuffer {
    this.#reads++;
    return this.#bytes({ kind: 'read', buffer: buffer.id, offset, bytes: wholeWords(bytes) });
  }

  /**
   * Starts to read the buffer's bytes as they are after all work so far: it may be given back at once, and what is asked
   * for from here on runs while they are waited for.
   */
  startRead(buffer: GpuBuffer, bytes: number): PendingRead {
    this.flush();
    const read = ++this.#reads;
    const { next } = this.#pool;
    this.#line.post({ kind: 'start-read', read, buffer: buffer.id, offset: 0, bytes: wholeWords(bytes) }, []);
    let done = false;
    return {
      wait: () => {
        done = true;
        return this.#bytes({ kind: 'finish-read', read }, next);
      },
      cancel: () => {
        if (!done) this.#line.post({ kind: 'cancel-read', read }, []);
        done = true;
      },
    };
  }

  /** Waits until the GPU has done everything, and throws what went wrong. */
  finish(): void {
    this.#wait({ kind: 'wait' });
  }

  /** Posts what was recorded. */
  flush(): void {
    if (this.#length + this.#uploads.length + this.#creates.length + this.#destroys.length === 0) return;
    const parameters = this.#parameters.slice(0, this.#pendingDispatches * PARAMETER_WORDS);
    const batch: Batch = {
      kind: 'batch',
      creates: this.#creates,
      destroys: this.#destroys,
      programs: this.#newPrograms,
      uploads: this.#uploads,
      commands: this.#commands.slice(0, this.#length),
      parameters,
    };
    this.#line.post(batch, [batch.commands.buffer, parameters.buffer, ...this.#uploads.map(({ bytes }) => bytes)]);
    [this.#creates, this.#destroys, this.#newPrograms, this.#uploads] = [[], [], [], []];
    this.#uploadBytes = 0;
    this.#length = 0;
    this.#pendingDispatches = 0;
    this.#pendingWork = 0;
    this.#batch++;
    if (this.#batch % STALE_BATCHES === 0) this.#destroys.push(...this.#pool.dropStale(this.#batch - STALE_BATCHES));
  }

  /** Gives up what lies free and counts the peak from here. */
  restartPeak(): void {
    this.#destroys.push(...this.#pool.trim(Number.POSITIVE_INFINITY));
    this.flush();
    this.#pool.restartPeak();
  }

  /** The names of all adapters of this machine, with the API that each is reached by. */
  adapters(): readonly string[] {
    return this.#line.ask({ kind: 'list' }).names ?? [];
  }

  /** Bytes that can be allocated besides what is, at most `most`: they are taken and given back. */
  room(most: number): number {
    this.flush();
    return this.#line.ask({ kind: 'trial', most }).room ?? 0;
  }

  /**
   * What each program took since the last call, by the label that it was recorded under, the longest first; empty unless
   * the device was opened `timed`.
   */
  times(): readonly ProgramTime[] {
    if (this.#timed === null) return [];
    this.flush();
    return sumProgramTimes(this.#timed.splice(0), this.#line.ask({ kind: 'times' }).times ?? new Float64Array());
  }

  /** Takes the device away, as a driver's reset does: for tests. */
  lose(): void {
    this.#line.ask({ kind: 'lose' });
  }

  async close(): Promise<void> {
    this.#line.ask({ kind: 'close' });
    await this.#line.end();
  }

  /** Gives up a GPU that doesn't answer: its thread ends when the driver lets it. */
  abandon(): void {
    void this.#line.end();
  }

  #bytes(request: Request, next?: number): ArrayBuffer {
    const { bytes } = this.#wait(request, next);
    if (bytes === undefined) throw new Error('Expected the read to bring bytes');
    return bytes;
  }

  /**
   * Posts what was recorded and waits; `next`: for what was asked for before the buffer of this number alone. A buffer that
   * the driver refused is known only here: it must not be found again in the pool.
   */
  #wait(request: Request, next = this.#pool.next): ReturnType<Line['ask']> {
    this.flush();
    try {
      const reply = this.#line.ask(request, this.deadline);
      this.#pool.confirm(next);
      return reply;
    } catch (error) {
      if (isOutOfMemory(error)) this.#destroys.push(...this.#pool.doubt());
      throw error;
    }
  }

  #make(bytes: number): GpuBuffer {
    const size = roundedSize(bytes);
    if (size > this.largestBuffer) throw tooLarge(bytes, this.largestBuffer);
    this.#keepToBudget(size);
    try {
      return this.#create(size);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      // What lies free may be what is missing.
      this.#destroys.push(...this.#pool.trim(Number.POSITIVE_INFINITY));
      this.finish();
      return this.#create(size);
    }
  }

  /** A large buffer is waited for, so that a lack of memory is found here and not in what uses it. */
  #create(size: number): GpuBuffer {
    const buffer = this.#pool.add(size);
    this.#creates.push([buffer.id, buffer.bytes]);
    if (size < LARGE_BYTES) return buffer;
    try {
      this.finish();
    } catch (error) {
      this.#pool.forget(buffer);
      this.#destroys.push(buffer.id);
      throw error;
    }
    return buffer;
  }

  /** Gives free buffers up where another one would go beyond the budget. */
  #keepToBudget(bytes: number): void {
    const budget = this.budgetBytes ?? Number.POSITIVE_INFINITY;
    if (this.#pool.bytes + bytes <= budget) return;
    this.#destroys.push(...this.#pool.trim(this.#pool.bytes + bytes - budget));
    this.flush();
    if (this.#pool.bytes + bytes > budget)
      throw outOfMemory(
        `${mib(bytes)} MiB more than ${mib(this.#pool.usedBytes)} MiB in use go beyond the budget of ${mib(budget)} MiB`,
      );
  }

  #record(...words: readonly number[]): void {
    if (this.#length + words.length > this.#commands.length) {
      const wider = new Int32Array(2 * this.#commands.length);
      wider.set(this.#commands);
      this.#commands = wider;
    }
    this.#commands.set(words, this.#length);
    this.#length += words.length;
  }

  #writeParameters({ parameterTypes }: Program, values: readonly number[]): void {
    const first = this.#pendingDispatches * PARAMETER_WORDS;
    values.forEach((value, i) => {
      if (parameterTypes[i] === 'f32') this.#floats[first + i] = value;
      else this.#parameters[first + i] = value;
    });
  }

  #idOf(code: Program): number {
    const known = this.#programs.get(code);
    if (known !== undefined) return known;
    const id = this.#programs.size + 1;
    this.#programs.set(code, id);
    this.#newPrograms.push({ id, name: code.name, wgsl: code.wgsl, writes: code.writes });
    return id;
  }

  #spread(groups: number): readonly [number, number, number] {
    const most = this.adapter.limits.maxComputeWorkgroupsPerDimension;
    if (groups <= most) return [groups, 1, 1];
    const rows = Math.ceil(groups / most);
    return [Math.ceil(groups / rows), rows, 1];
  }
}
