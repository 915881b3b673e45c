import { join } from 'node:path';
import { forkTrainer } from '../services/trainer-process/channel.ts';
import type { HostPaths } from '../services/workspace/paths.ts';

let paths: HostPaths | null = null;

/** Set once by the entry file, the only one that knows its own location. */
export function setHostPaths(value: HostPaths): void {
  paths = value;
}

/** The models of the command's workspace. */
export function useModelsOf(models: string): void {
  if (paths !== null) paths = { ...paths, models };
}

/** Paths of bundled resources. */
export function hostPaths(): HostPaths {
  if (paths === null) throw new Error('The entry file must call setHostPaths first');
  return paths;
}

/** The layout of a source checkout, given its root. */
export function checkoutPaths(root: string): HostPaths {
  return {
    trainer: forkTrainer(join(root, 'main/trainer/process/entry.ts')),
    textWorker: join(root, 'main/services/text-worker/worker.ts'),
    rewardWorker: join(root, 'main/tasks/sandbox/worker.ts'),
    externalRewards: join(root, 'main/rewards/worker.ts'),
    rewardProcess: forkTrainer(join(root, 'main/trainer/process/reward-process.ts')),
    kernels: join(root, 'out/kernels/kernels.wasm'),
    addon: join(root, 'main/tensor/native/addon'),
    page: join(root, 'out/renderer'),
    resources: join(root, 'resources'),
    datasets: join(root, 'datasets'),
  };
}
