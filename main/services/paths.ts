/** Where a host finds what it ships with. Entry files compute these once: bundled code can't know its own place. */
export interface HostPaths {
  /** The trainer process's entry. */
  readonly trainer: string;
  /** The compiled WebAssembly kernels. */
  readonly kernels: string;
  /** `resources/`: presets and the bundled model. */
  readonly resources: string;
  /** `datasets/`: the bundled source texts. */
  readonly datasets: string;
}
