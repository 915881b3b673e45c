/** Whether another run may start next to the active ones: by number and by memory. Pure. */
import { BraidError } from '../../errors.ts';
import { formatBytes } from '../../text/format.ts';
import type { MemoryUse } from '../../trainer/memory/budget.ts';
import type { LiveStatus } from './live-status.ts';

export interface Demand {
  readonly name: string;
  readonly memory: MemoryUse;
}

export interface Room {
  /** From the settings: concurrent runs. */
  readonly concurrentRuns: number;
  readonly freeBytes: number;
  /** Of the GPU's own memory; null: there is none, or nobody knows. */
  readonly gpuFreeBytes: number | null;
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
      { kind: 'input', remedy: 'Add it to the queue, stop the other, or allow more concurrent runs in the settings.' },
    );
  }
  if (wanted.memory.host + RESERVE > room.freeBytes)
    return noMemory('memory', names, wanted.memory.host, room.freeBytes);
  const { gpuFreeBytes } = room;
  if (gpuFreeBytes === null || wanted.memory.gpu <= gpuFreeBytes) return null;
  return noMemory('GPU memory', names, wanted.memory.gpu, gpuFreeBytes);
}

function noMemory(what: string, names: string, needed: number, free: number): BraidError {
  return new BraidError(
    'NO_MEMORY_FOR_RUN',
    `Not enough ${what} for another run next to ${names}: ${formatBytes(needed)} needed, ${formatBytes(Math.max(0, free))} free`,
    { kind: 'input', remedy: 'Queue it: it starts when the other ends.' },
  );
}

/** Memory that live runs were admitted with and haven't allocated yet: it is not free, although the system says so. */
export function promisedBytes(live: readonly Pick<LiveStatus, 'expected' | 'memoryBytes' | 'gpuBytes'>[]): MemoryUse {
  const left = (expected: number, has: number | null): number => Math.max(0, expected - (has ?? 0));
  return {
    host: live.reduce((sum, { expected, memoryBytes }) => sum + left(expected.host, memoryBytes), 0),
    gpu: live.reduce((sum, { expected, gpuBytes }) => sum + left(expected.gpu, gpuBytes), 0),
  };
}
