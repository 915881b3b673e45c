/** How a trainer shares the processor with other programs. */
import { constants, setPriority } from 'node:os';

/** The environment variable that tells a trainer process to yield: its host is an app with pages. */
export const YIELDS = 'BRAID_YIELDS';

/** A third of others' share where they want it too. Node's own "below normal" is a tenth: beside a build no step would end. */
const NICE = 5;
/** Windows has classes of priority, and this one below the usual. */
const BELOW_NORMAL = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Leaves others most of the processor, where that was asked for: with nobody else at work it takes all of it. Must come
 * before the process makes threads: on Linux each takes its priority from the thread that makes it.
 */
export function takePriority(env: NodeJS.ProcessEnv = process.env): void {
  if (env[YIELDS] === '1') setPriority(process.platform === 'win32' ? BELOW_NORMAL : NICE);
}
