/** Where the processes that tests start lie: the bundle of build.ts, which vitest makes before any test. */
import { join, resolve } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { forkTrainer } from '../../main/services/trainer-process/channel.ts';
import type { HostPaths } from '../../main/services/workspace/paths.ts';

export const root = resolve(import.meta.dirname, '../..');
export const bundle = join(root, 'node_modules/.cache/braid-tests/processes');

/** The braid command. */
export const BRAID = join(bundle, 'braid.js');

/** A checkout's paths, but for what runs as a process or thread of its own: that is the bundle's. */
export function processPaths(home = root, folder = bundle): HostPaths {
  return {
    ...checkoutPaths(home),
    trainer: forkTrainer(join(folder, 'trainer.js')),
    textWorker: join(folder, 'texts.js'),
    rewardWorker: join(folder, 'rewards.js'),
    externalRewards: join(folder, 'external-rewards.js'),
    rewardProcess: forkTrainer(join(folder, 'reward-process.js')),
  };
}
