/** How a trainer shares the CPU with other programs. */
import { constants, getPriority, setPriority } from 'node:os';

/** The environment variable that makes a trainer process yield: its host is an app with pages. */
export const YIELDS = 'BRAID_YIELDS';

/** Below the host's own: a third of its share under contention. Node's own "below normal" is a tenth: next to a build, steps would never finish. */
const NICE = 5;
/** Windows has priority classes; this one is below normal. */
const BELOW_NORMAL = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * If requested, leaves most of the CPU to other programs; when idle otherwise, it still uses all of it. Must be called
 * before the process creates threads: on Linux each inherits its priority from its creator.
 */
export function applyPriority(): void {
  if (process.env[YIELDS] === '1')
    setPriority(process.platform === 'win32' ? BELOW_NORMAL : Math.min(19, getPriority() + NICE));
}
