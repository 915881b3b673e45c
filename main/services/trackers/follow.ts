/**
 * Follows a run into its trackers, beside the training: it reads the history, so that a tracker that is slow or away
 * neither holds the run up nor misses anything, and resumes where it was, also on another day.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { BraidError } from '../../errors.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { fetchReason } from '../../io/fetch-reason.ts';
import { parseJson } from '../../io/json.ts';
import type { Store } from '../../store/index.ts';
import { addHostEvent } from '../runs/events.ts';
import { type RunEnd, type TrackedRun, type Tracker, TrackerRefusal } from './tracker.ts';
import { nextUnsent, START } from './unsent.ts';

export interface Follower {
  /** The history has more. */
  poke(): void;
  /** Sends what is left, for a few seconds at most, and ends the run there. */
  finish(end: RunEnd): Promise<void>;
}

export interface FollowedRun extends TrackedRun {
  readonly store: Store;
  readonly runId: number;
}

export interface Patience {
  /** Between two batches. */
  readonly everyMs: number;
  /** Before asking one that is away again; doubled each time, up to the most. */
  readonly retryMs: number;
  readonly mostMs: number;
  /** For what is left at the run's end. */
  readonly lastMs: number;
}

const PATIENCE: Patience = { everyMs: 2000, retryMs: 5000, mostMs: 120_000, lastMs: 10_000 };

/** Follows a run into each tracker on its own. */
export function followRun(run: FollowedRun, trackers: readonly Tracker[], patience: Partial<Patience> = {}): Follower {
  const lanes = trackers.map((tracker) => openLane(run, tracker, { ...PATIENCE, ...patience }));
  return {
    poke: () => {
      for (const lane of lanes) lane.poke();
    },
    finish: async (end) => void (await Promise.all(lanes.map((lane) => lane.finish(end)))),
  };
}

/** What a run's trackers lack, in words. */
export function trackerWarnings(store: Store, runId: number): readonly string[] {
  return store.events
    .ofRun(runId)
    .filter(({ kind, severity }) => kind === 'tracker' && severity === 'warning')
    .map(({ message, remedy }) => (remedy === null ? `${message}.` : `${message}. ${remedy}`));
}

/** Sends a run's whole history, or what its tracker lacks, also its end. Throws what the tracker answers. */
export async function sendRun(run: FollowedRun, tracker: Tracker, end: RunEnd | null): Promise<number> {
  try {
    const session = { isOpen: false };
    const sent = await sendUnsent(run, tracker, session, () => true);
    await sendEnd(run, tracker, session, end);
    return sent;
  } catch (error) {
    if (error instanceof BraidError) throw error;
    const remedy = 'What it has is kept: send the rest by the same command.';
    throw new BraidError('TRACKER_AWAY', `${tracker.title} failed: ${fetchReason(error)}`, { cause: error, remedy });
  } finally {
    tracker.drop();
  }
}

function openLane(run: FollowedRun, tracker: Tracker, { everyMs, retryMs, mostMs, lastMs }: Patience) {
  const { store, runId } = run;
  const session = { isOpen: false };
  let state: 'well' | 'away' | 'refused' | 'over' = 'well';
  let wait = retryMs;
  let timer: NodeJS.Timeout | null = null;
  let sending = Promise.resolve();

  const say = (severity: 'info' | 'warning', message: string, remedy: string | null = null): void => {
    try {
      const step = store.runs.get(runId)?.step ?? 0;
      addHostEvent(store, runId, step, { kind: 'tracker', severity, message, remedy });
    } catch {
      // Without room for this the history has none for the run either, whose recorder says so.
    }
  };
  const plan = (after: number): void => {
    if (timer !== null || state === 'refused' || state === 'over') return;
    timer = setTimeout(() => {
      timer = null;
      sending = sending.then(send);
    }, after);
    timer.unref();
  };
  const send = async (): Promise<void> => {
    try {
      await sendUnsent(run, tracker, session, () => state !== 'over');
      if (state === 'away') say('info', `${tracker.title} is back, and has what it missed`);
      if (state === 'away') [state, wait] = ['well', retryMs];
    } catch (error) {
      session.isOpen = false;
      if (state === 'over') return;
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const fail = (error: Error): void => {
    if (error instanceof TrackerRefusal) {
      state = 'refused';
      say('warning', `Nothing is sent to ${tracker.title}: ${error.message}`, error.remedy ?? null);
      return;
    }
    if (state === 'well')
      say('warning', `${tracker.title} is away (${fetchReason(error)})`, 'It gets everything once back.');
    state = 'away';
    plan(wait);
    wait = Math.min(2 * wait, mostMs);
  };
  return {
    poke: () => {
      if (state === 'well') plan(everyMs);
    },
    finish: async (end: RunEnd) => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      const how = state === 'well' ? await within(lastMs, sendLast(end)) : state;
      if (how === 'away' || how === 'late')
        say('warning', `${tracker.title} lacks the run's end`, sendLater(tracker, runId));
      state = 'over';
      tracker.drop();
    },
  };

  /** What is left, and the end. */
  async function sendLast(end: RunEnd): Promise<'well' | 'away'> {
    await sending;
    try {
      await sendUnsent(run, tracker, session, () => state !== 'over');
      await sendEnd(run, tracker, session, end);
      return 'well';
    } catch {
      return 'away';
    }
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | 'late'> {
  const end = new AbortController();
  const late = sleep(ms, 'late' as const, { signal: end.signal }).catch(() => 'late' as const);
  try {
    return await Promise.race([work, late]);
  } finally {
    end.abort();
  }
}

function sendLater({ name }: Tracker, runId: number): string {
  return `braid export --run ${runId} --for ${name} sends it.`;
}

/** Opens the run there where it isn't, and sends batch by batch; `isWanted` is asked before each. Returns the steps. */
async function sendUnsent(
  run: FollowedRun,
  tracker: Tracker,
  session: { isOpen: boolean },
  isWanted: () => boolean,
): Promise<number> {
  const places = openPlaces(run.folder);
  let { id, isEnded: _, ...cursor } = places.get(tracker.name);
  let sent = 0;
  while (isWanted()) {
    const unsent = nextUnsent(run.store, run.runId, cursor);
    if (unsent === null) return sent;
    if (!session.isOpen) id = await tracker.open(trackedRun(run), id);
    session.isOpen = true;
    places.set(tracker.name, { id, isEnded: false, ...cursor });
    if (unsent.steps.length > 0) await tracker.log(unsent.steps);
    if (unsent.table !== null) await tracker.table(unsent.table);
    sent += unsent.steps.length;
    cursor = unsent.after;
    places.set(tracker.name, { id, isEnded: false, ...cursor });
  }
  return sent;
}

/** Ends the run there: where it is open, or was left open by a process that was killed. */
async function sendEnd(
  run: FollowedRun,
  tracker: Tracker,
  session: { readonly isOpen: boolean },
  end: RunEnd | null,
): Promise<void> {
  const places = openPlaces(run.folder);
  const place = places.get(tracker.name);
  if (!session.isOpen) {
    if (end === null || place.isEnded !== false) return;
    await tracker.open(trackedRun(run), place.id);
  }
  await tracker.close(end);
  if (end !== null) places.set(tracker.name, { ...place, isEnded: true });
}

/** The part that trackers see. */
function trackedRun({ project, name, config, folder, startedAt }: FollowedRun): TrackedRun {
  return { project, name, config, folder, startedAt };
}

const placesSchema = z.record(
  z.string(),
  z.object({
    id: z.string().nullable(),
    step: z.int(),
    evaluation: z.int(),
    samples: z.int(),
    /** Absent where an earlier version wrote it. */
    isEnded: z.boolean().optional(),
  }),
);

/** Where each tracker is, in the run's folder. */
function openPlaces(folder: string) {
  const file = join(folder, 'trackers.json');
  const read = (): z.infer<typeof placesSchema> => {
    try {
      return placesSchema.parse(parseJson(readFileSync(file, 'utf8')));
    } catch {
      // There is none yet.
      return {};
    }
  };
  return {
    get: (name: string): z.infer<typeof placesSchema>[string] => read()[name] ?? { id: null, ...START },
    set: (name: string, place: z.infer<typeof placesSchema>[string]): void =>
      writeFileAtomic(file, `${JSON.stringify({ ...read(), [name]: place })}\n`),
  };
}
