/** Stands in the bundle for what main/cli.ts imports: its command starts the bundle's processes. */
import { resolve } from 'node:path';
import type { HostPaths } from '../../main/services/workspace/paths.ts';
import { bundledPaths } from './paths.ts';

export { setHostPaths } from '../../main/commands/host-paths.ts';

/** node_modules/.cache/braid-tests/processes/STATE */
const folder = import.meta.dirname;

export function checkoutPaths(): HostPaths {
  return bundledPaths(resolve(folder, '../../../../..'), folder);
}
