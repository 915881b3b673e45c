/** Where the processes that tests start lie: in vitest's bundle (build.ts), elsewhere among the sources. */
import { join, resolve } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { forkTrainer } from '../../main/services/trainer-process/channel.ts';
import type { HostPaths } from '../../main/services/workspace/paths.ts';

export const root = resolve(import.meta.dirname, '../..');

/** The environment variable that names the bundle's folder. */
export const BUNDLE = 'BRAID_TEST_PROCESSES';
const bundle = process.env[BUNDLE];

/** The braid command. */
export const BRAID = bundle === undefined ? join(root, 'main/braid.ts') : join(bundle, 'braid.js');

/** The paths of a host of this checkout. */
export function processPaths(): HostPaths {
  return bundle === undefined ? checkoutPaths(root) : bundledPaths(root, bundle);
}

export function bundledPaths(home: string, folder: string): HostPaths {
  return {
    ...checkoutPaths(home),
    trainer: forkTrainer(join(folder, 'trainer.js')),
    textWorker: join(folder, 'texts.js'),
    rewardWorker: join(folder, 'rewards.js'),
    externalRewards: join(folder, 'external-rewards.js'),
    rewardProcess: forkTrainer(join(folder, 'reward-process.js')),
  };
}
