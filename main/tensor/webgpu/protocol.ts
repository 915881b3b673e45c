/**
 * What the trainer's thread and the thread that owns the GPU say to each other. Reading from a GPU is asynchronous, the
 * trainer is not: it records work, posts it in batches, and where it needs a result it waits for the other thread.
 */
import type { MatrixUnit } from './matrix-units.ts';

/** A compute program as the device thread compiles it; it is sent once and then known by its number. */
export interface ProgramSource {
  readonly id: number;
  readonly name: string;
  readonly wgsl: string;
  /** Of each storage buffer, in order of its binding: whether the program writes it. */
  readonly writes: readonly boolean[];
}

/** Bytes for a buffer. They are written before the batch's commands run. */
export interface Upload {
  readonly buffer: number;
  readonly offset: number;
  readonly bytes: ArrayBuffer;
}

/** Commands are runs of integers: a code, then its operands. Offsets and lengths count 4-byte words. */
export const COMMAND = {
  /** program, x, y, z, place of its parameters in blocks, number of buffers, buffers … */
  dispatch: 0,
  /** from, its offset, to, its offset, words */
  copy: 1,
  /** buffer, offset, words */
  clear: 2,
} as const;

/** A dispatch's parameters take a block: WebGPU's alignment for an offset into a uniform buffer. */
export const PARAMETER_BYTES = 256;

export interface Batch {
  readonly kind: 'batch';
  /** New buffers: number and bytes. */
  readonly creates: readonly (readonly [id: number, bytes: number])[];
  readonly destroys: readonly number[];
  readonly programs: readonly ProgramSource[];
  readonly uploads: readonly Upload[];
  readonly commands: Int32Array<ArrayBuffer>;
  readonly parameters: Uint32Array<ArrayBuffer>;
}

export interface OpenRequest {
  readonly kind: 'open';
  /** Part of the adapter's name; null: the one that the system prefers. */
  readonly adapter: string | null;
  readonly checksOnly: boolean;
  /** Times every dispatch by itself, which makes all of them slower. */
  readonly timed: boolean;
}

export interface ReadRequest {
  readonly kind: 'read';
  readonly buffer: number;
  readonly offset: number;
  readonly bytes: number;
}

/** Copies bytes for a read that is waited for later, by its number; what is posted after this runs meanwhile. */
export interface StartReadRequest extends Omit<ReadRequest, 'kind'> {
  readonly kind: 'start-read';
  readonly read: number;
}

/** Waits for such a read, or cancels it. */
export interface StartedReadRequest {
  readonly kind: 'finish-read' | 'cancel-read';
  readonly read: number;
}

/** Asks how much memory can be allocated, `most` at most. */
export interface TrialRequest {
  readonly kind: 'trial';
  readonly most: number;
}

/** "lose" takes the device away as a driver's reset does: for tests. */
export type Request =
  | Batch
  | OpenRequest
  | ReadRequest
  | StartReadRequest
  | StartedReadRequest
  | TrialRequest
  | { readonly kind: 'wait' | 'list' | 'close' | 'lose' | 'times' };

/** The limits that kernels and memory plans look at. */
export interface GpuLimits {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupsPerDimension: number;
  readonly maxStorageBuffersPerShaderStage: number;
}

/** What an adapter says of itself. */
export interface AdapterFacts {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  /** The driver's own words, its version mostly among them. */
  readonly description: string;
  /** Computes on the processor: good for tests, never for work. */
  readonly software: boolean;
  /** What product-units.ts can be written for; null: it has none of the kind. */
  readonly matrixUnit: MatrixUnit | null;
  readonly features: readonly string[];
  readonly limits: GpuLimits;
}

/** Why the device can't continue. */
export type GpuFault =
  | 'no-package'
  | 'no-thread'
  | 'no-adapter'
  | 'other-name'
  | 'no-device'
  | 'too-small'
  | 'no-clock'
  | 'lost'
  | 'slow'
  | 'out-of-memory'
  | 'invalid';

export type Reply =
  | {
      readonly ok: true;
      readonly adapter?: AdapterFacts;
      readonly bytes?: ArrayBuffer;
      /** Bytes that could be allocated. */
      readonly room?: number;
      /** Of every adapter of the system. */
      readonly names?: readonly string[];
      /** Seconds of each dispatch since they were asked for last, where they are timed. */
      readonly times?: Float64Array;
    }
  | { readonly ok: false; readonly fault: GpuFault; readonly message: string };
