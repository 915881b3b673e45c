/** How a GPU is opened, and what it counts. */

export interface GpuOptions {
  /** Part of the adapter's name; default: the one that the system prefers. */
  readonly adapter?: string | null;
  /** Bytes of GPU memory that may be used; default: no bound but the device's. */
  readonly budgetBytes?: number;
  /** When opening it is given up, by performance.now; default: never. */
  readonly deadline?: number;
  /** Bytes of the largest buffer, where a test wants it smaller than the device's. */
  readonly largestBuffer?: number;
  /** Default: those of the adapter, where it has them. */
  readonly matrixUnits?: boolean;
  /** Operations of a dispatch, where a test wants them split sooner. */
  readonly mostWork?: number;
  /** Dawn's device that compiles and checks everything and computes nothing, with the limits that WebGPU guarantees: for tests. */
  readonly checksOnly?: boolean;
  /** Times every dispatch by itself (`times`), which makes all of them slower. Needs an adapter with timestamp-query. */
  readonly timed?: boolean;
}

/** Work that has been asked for so far, for tests and reports. */
export interface GpuCounts {
  readonly dispatches: number;
  /** Dispatches that wait for one before, as they read what it writes or write what it uses. */
  readonly barriers: number;
  readonly batches: number;
  readonly reads: number;
  readonly buffers: number;
  readonly bytes: number;
  readonly peakBytes: number;
  /** Bytes of the buffers that dispatches were given, each counted again at each dispatch: what they read and write at most. */
  readonly boundBytes: number;
  /** Dispatches by program. */
  readonly byProgram: ReadonlyMap<string, number>;
}
