/** The queue: stages, free runs and sweeps in one order. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { QueuePlace } from '../../store/queue.ts';
import { id, list, procedure } from './base.ts';
import { newRun } from './runs.ts';

const key = z.object({ kind: z.enum(['stage', 'run', 'sweep']), id });

/** What waits, next one first, and why it waits. */
export interface QueueView {
  readonly places: readonly QueuePlace[];
  /** Why the queue is paused, and for which stage. */
  readonly held: string | null;
  readonly heldFor: number | null;
}

export const queue = {
  list: procedure.output(type<QueueView>()),
  /** Queues a run with these settings over a preset's or a run's; it starts at once if no run is training. */
  addRun: procedure.input(newRun).output(z.object({ queuedId: id })),
  /** A stage is planned again, a sweep pauses, a queued run is dropped. */
  remove: procedure.input(key),
  /** Puts what waits in this order. */
  reorder: procedure.input(z.object({ keys: list(key, { max: 1000 }) })),
  /** Tries again to start a queued run. */
  retry: procedure.input(z.object({ queuedId: id })),
  /** Resumes a paused queue. */
  release: procedure,
};
