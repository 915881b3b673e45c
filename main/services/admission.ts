/** Whether one more run may start beside those at work: by number and by memory. Pure. */
import { BraidError } from '../errors.ts';
import { formatBytes } from './doctor/check.ts';

export interface Demand {
  readonly name: string;
  readonly memoryBytes: number;
}

export interface Room {
  /** Of the settings: runs at once. */
  readonly concurrentRuns: number;
  readonly freeBytes: number;
}

/** Memory left to the rest of the machine. */
const RESERVE = 512 * 2 ** 20;

/** Why the run can't start now; null when it can. The first run always may: the trainer itself fits its batches. */
export function refusal(live: readonly Demand[], wanted: Demand, room: Room): BraidError | null {
  if (live.length === 0) return null;
  const names = live.map(({ name }) => name).join(', ');
  if (live.length >= room.concurrentRuns) {
    return new BraidError(
      'RUN_BUSY',
      `Expected room for another run, but ${names} ${live.length === 1 ? 'is' : 'are'} training and the setting allows ${room.concurrentRuns}`,
      { kind: 'input', remedy: 'Queue it, stop the other, or allow more runs at once in the settings.' },
    );
  }
  if (wanted.memoryBytes + RESERVE <= room.freeBytes) return null;
  return new BraidError(
    'NO_MEMORY_FOR_RUN',
    `Expected ${formatBytes(wanted.memoryBytes)} of free memory for another run beside ${names}, got ${formatBytes(room.freeBytes)}`,
    { kind: 'input', remedy: 'Queue it: it starts when the other ends.' },
  );
}
