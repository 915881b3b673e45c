/** Paths of the desktop app's resources: next to the source in a checkout, otherwise in the package's folders. */
import { join } from 'node:path';
import type { HostPaths } from '../services/workspace/paths.ts';
import { findNode, launchByBackend } from './trainer-node.ts';
import { launchUtility } from './trainer-utility.ts';

export interface DesktopPaths extends HostPaths {
  readonly preload: string;
  readonly icon: string;
}

/**
 * `entry`: the folder of the built main entry, `out/main`. `packaged`: the package's resources folder, null in a
 * checkout. A package's own archive reads like a folder to Electron's main process; code for other processes and
 * threads, and the files they load, is unpacked next to it (electron-builder.yml).
 */
export function desktopPaths(entry: string, packaged: string | null): DesktopPaths {
  const out = join(entry, '..');
  const beside = packaged ?? join(out, '..');
  const unpacked = packaged === null ? out : join(packaged, 'app.asar.unpacked', 'out');
  const trainer = join(unpacked, 'main', 'trainer.js');
  return {
    trainer: launchByBackend(launchUtility(trainer), trainer, findNode(beside, packaged)),
    textWorker: join(unpacked, 'main', 'texts.js'),
    rewardWorker: join(unpacked, 'main', 'rewards.js'),
    externalRewards: join(unpacked, 'main', 'external-rewards.js'),
    rewardProcess: launchUtility(join(unpacked, 'main', 'reward-process.js')),
    kernels: join(unpacked, 'kernels', 'kernels.wasm'),
    addon: join(beside, packaged === null ? 'main/tensor/native/addon' : 'native-addon'),
    page: join(out, 'renderer'),
    resources: join(beside, 'resources'),
    datasets: join(beside, 'datasets'),
    preload: join(out, 'preload', 'index.cjs'),
    icon: join(beside, 'resources', 'icons', 'braid.png'),
  };
}
