/** How a trainer shares the processor with other programs. */
import { constants, setPriority } from 'node:os';

/** The environment variable that tells a trainer process to yield: its host is an app with pages. */
export const YIELDS = 'BRAID_YIELDS';

/**
 * Takes what others leave, where that was asked for: with nobody else at work that is everything. Must come before the
 * process makes threads: on Linux each takes its priority from the thread that makes it.
 */
export function takePriority(env: NodeJS.ProcessEnv = process.env): void {
  if (env[YIELDS] === '1') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}
