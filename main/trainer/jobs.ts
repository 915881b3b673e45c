import type { TrainerStart } from './start.ts';

/** What a trainer process can be asked to do: one job, then it ends. */
export type TrainerJob = TrainerStart;
