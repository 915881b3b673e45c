/** Stands in the bundle for what main/cli.ts imports: its command starts the bundle's processes. */
import { join, resolve } from 'node:path';
import type { HostPaths } from '../../main/services/workspace/paths.ts';
import { processPaths } from './paths.ts';

export { setHostPaths } from '../../main/commands/host-paths.ts';

/** Given the folder of the bundle's own folder. */
export function checkoutPaths(cache: string): HostPaths {
  return processPaths(resolve(cache, '../../..'), join(cache, 'processes'));
}
