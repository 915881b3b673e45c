import { join } from 'node:path';
import type { HostPaths } from '../services/paths.ts';
import { forkTrainer } from '../services/trainer-channel.ts';

let paths: HostPaths | null = null;

/** Told once by the entry file, which alone knows where it lies. */
export function setHostPaths(value: HostPaths): void {
  paths = value;
}

/** Where the program finds what it ships with. */
export function hostPaths(): HostPaths {
  if (paths === null) throw new Error('The entry file must call setHostPaths first');
  return paths;
}

/** The layout of a source checkout, given its root. */
export function checkoutPaths(root: string): HostPaths {
  return {
    trainer: forkTrainer(join(root, 'main/trainer/entry.ts')),
    textWorker: join(root, 'main/services/library/worker.ts'),
    kernels: join(root, 'out/kernels/kernels.wasm'),
    addon: join(root, 'main/tensor/native/addon'),
    page: join(root, 'out/renderer'),
    resources: join(root, 'resources'),
    datasets: join(root, 'datasets'),
  };
}
