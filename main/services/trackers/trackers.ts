/** The trackers of a configuration, and a run of the history for them. */
import { basename } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { RunState } from '../../store/runs.ts';
import type { TrackerName, TrainConfig } from '../../trainer/config/config.ts';
import { requireRun } from '../runs/runs.ts';
import { isHostAlive } from '../workspace/host.ts';
import { type FollowedRun, type Follower, followRun, sendRun } from './follow.ts';
import { openMlflow } from './mlflow.ts';
import { openPythonTracker } from './python.ts';
import type { RunEnd, Tracker } from './tracker.ts';

export interface TrackedPlace {
  readonly runId: number;
  readonly folder: string;
  readonly config: TrainConfig;
}

/** Follows a run into the trackers that its configuration names. */
export function openFollower(place: TrackedPlace, store: Store, resources: string): Follower {
  return followRun(
    followed(place, store),
    place.config.report_to.map((name) => openTracker(name, resources)),
  );
}

/** Sends what a tracker lacks of a run. Returns the number of steps and evaluations. */
export function sendToTracker(
  place: TrackedPlace,
  store: Store,
  name: TrackerName,
  resources: string,
): Promise<number> {
  return sendRun(followed(place, store), openTracker(name, resources), endOf(store, place.runId));
}

/** How a run of this state ended, once it no longer trains. */
export function howEnded(state: RunState): RunEnd['how'] {
  if (state === 'failed') return 'failed';
  return state === 'done' || state === 'stopped' || state === 'collapsed' ? 'finished' : 'killed';
}

/** null: it trains or is paused, in a process that exists. */
function endOf(store: Store, runId: number): RunEnd | null {
  const run = requireRun(store, runId);
  const { state, endedAt, heartbeatAt } = run;
  if (endedAt === null && isHostAlive(run, store.now())) return null;
  return { how: howEnded(state), at: endedAt ?? heartbeatAt ?? store.now() };
}

function openTracker(name: TrackerName, resources: string): Tracker {
  return name === 'mlflow' ? openMlflow() : openPythonTracker(name, { resources });
}

function followed({ runId, folder, config }: TrackedPlace, store: Store): FollowedRun {
  const run = store.runs.get(runId);
  const name = run?.name ?? basename(folder);
  const startedAt = run?.startedAt ?? run?.createdAt ?? store.now();
  return { store, runId, folder, name, config, startedAt, project: config.project };
}
