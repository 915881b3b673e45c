/** Whether another run may start next to the active ones: by number and by memory. Pure. */
import { BraidError } from '../../errors.ts';
import { formatBytes } from '../../text/format.ts';
import type { LiveStatus } from './live-status.ts';

export interface Demand {
  readonly name: string;
  readonly memoryBytes: number;
}

export interface Room {
  /** From the settings: concurrent runs. */
  readonly concurrentRuns: number;
  readonly freeBytes: number;
}

/** Memory reserved for the rest of the machine. */
const RESERVE = 512 * 2 ** 20;

/** Why the run can't start now; null if it can. The first run always can: the trainer fits its batches itself. */
export function refusal(live: readonly Demand[], wanted: Demand, room: Room): BraidError | null {
  if (live.length === 0) return null;
  const names = live.map(({ name }) => name).join(', ');
  if (live.length >= room.concurrentRuns) {
    return new BraidError(
      'RUN_BUSY',
      `No room for another run: ${names} ${live.length === 1 ? 'is' : 'are'} training and the settings allow ${room.concurrentRuns}`,
      { kind: 'input', remedy: 'Queue it, stop the other, or allow more concurrent runs in the settings.' },
    );
  }
  if (wanted.memoryBytes + RESERVE <= room.freeBytes) return null;
  return new BraidError(
    'NO_MEMORY_FOR_RUN',
    `Not enough memory for another run next to ${names}: ${formatBytes(wanted.memoryBytes)} needed, ${formatBytes(room.freeBytes)} free`,
    { kind: 'input', remedy: 'Queue it: it starts when the other ends.' },
  );
}

/** Memory that live runs were admitted with and haven't allocated yet: it is not free, although the system says so. */
export function promisedBytes(live: readonly Pick<LiveStatus, 'expectedBytes' | 'memoryBytes'>[]): number {
  return live.reduce((sum, run) => sum + Math.max(0, run.expectedBytes - (run.memoryBytes ?? 0)), 0);
}
