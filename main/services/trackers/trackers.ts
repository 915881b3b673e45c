/** The trackers of a configuration, and a run of the history for them. */
import { basename } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { TrackerName, TrainConfig } from '../../trainer/config/config.ts';
import { type FollowedRun, type Follower, followRun, sendRun } from './follow.ts';
import { openMlflow } from './mlflow.ts';
import { openPythonTracker } from './python.ts';
import type { Tracker } from './tracker.ts';

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
  const { state } = store.runs.get(place.runId) ?? { state: 'done' };
  return sendRun(followed(place, store), openTracker(name, resources), state === 'failed');
}

function openTracker(name: TrackerName, resources: string): Tracker {
  return name === 'mlflow' ? openMlflow() : openPythonTracker(name, { resources });
}

function followed({ runId, folder, config }: TrackedPlace, store: Store): FollowedRun {
  const name = store.runs.get(runId)?.name ?? basename(folder);
  return { store, runId, folder, name, config, project: config.project };
}
