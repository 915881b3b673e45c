/** The state of the reply system for its screen. */
import { existsSync } from 'node:fs';
import type { LiveWorkspace } from '../training/live-runs.ts';
import { replyData } from './data.ts';
import { baselineCheckpoint, type MethodView, methodViews, presentSplit } from './methods.ts';
import { wholeSeeds } from './over-seeds.ts';
import { type StartPoints, startPoints } from './start-points.ts';
import { type ReplyState, readReplyState, type SplitRecord } from './stored-state.ts';

export interface ReplyDesk extends StartPoints {
  readonly data: {
    readonly name: string;
    readonly bundled: boolean;
    readonly records: number;
    readonly heldOut: number;
    /** Their files still exist. */
    readonly there: boolean;
  };
  /** null: none, or its files are gone. */
  readonly split: SplitRecord | null;
  readonly methods: readonly MethodView[];
  /** Whether there is a checkpoint that GRPO starts from: the chosen one, or a baseline's on this split. */
  readonly hasStart: boolean;
  readonly trial: ReplyState['trial'];
  /** Seeds with a finished run of every method. */
  readonly wholeSeeds: readonly number[];
}

export function replyDesk(app: Pick<LiveWorkspace, 'store' | 'workspace' | 'paths' | 'live'>): ReplyDesk {
  const { train, test, ...data } = replyData(app);
  const { trial } = readReplyState(app.store);
  const points = startPoints(app);
  return {
    data: { ...data, there: existsSync(train) && existsSync(test) },
    split: presentSplit(app),
    methods: methodViews(app, points),
    hasStart: points.start !== null || baselineCheckpoint(app, null) !== null,
    trial,
    wholeSeeds: wholeSeeds(app),
    ...points,
  };
}
