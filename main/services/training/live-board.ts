/** The registry of live runs: their state, whether the trainer is silent, and who is notified of changes. */
import type { TrainerCommand, TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import type { Changes, Topic } from '../workspace/changes.ts';
import { logFault } from '../workspace/stray-faults.ts';
import { advance, asked, type LiveStatus, SHORTEST_SILENCE_MS, silenceToTell } from './live-status.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { LiveRun } from './training.ts';

/** How often the board checks whether trainers send events, and the shortest silence that it reports. */
export interface SilenceWatch {
  readonly everyMs: number;
  readonly shortestMs: number;
}

export interface BoardListeners {
  /** Called with each batch that the history has recorded. */
  onEvents(listener: (runId: number, events: readonly TrainerEvent[]) => void): void;
  /** Called when a trainer was started, for a new run or one that resumes. */
  onStart(listener: (status: LiveStatus) => void): void;
  onEnd(listener: (outcome: RunOutcome) => void): void;
}

export interface LiveBoard extends BoardListeners {
  add(run: LiveRun, status: LiveStatus): void;
  remove(outcome: RunOutcome): void;
  /** Takes a batch of a run's events. */
  hear(runId: number, events: readonly TrainerEvent[]): void;
  /** Notes what the run has been asked. */
  asked(runId: number, kind: TrainerCommand['kind']): void;
  publish(runId: number): void;
  run(runId: number): LiveRun | null;
  runs(): readonly LiveRun[];
  get(runId: number): LiveStatus | null;
  list(): readonly LiveStatus[];
}

/** A live run and its in-memory state. */
interface Entry {
  readonly run: LiveRun;
  readonly listening: NodeJS.Timeout;
  readonly status: LiveStatus;
  /** Since the trainer's last event, as far as this host was awake to hear it. */
  readonly quietMs: number;
}

const SILENCE: SilenceWatch = { everyMs: 5000, shortestMs: SHORTEST_SILENCE_MS };

/** Opens an empty board. */
export function openLiveBoard(changes: Pick<Changes, 'publish'>, silence: SilenceWatch = SILENCE): LiveBoard {
  const entries = new Map<number, Entry>();
  const eventListeners: ((runId: number, events: readonly TrainerEvent[]) => void)[] = [];
  const startListeners: ((status: LiveStatus) => void)[] = [];
  const endListeners: ((outcome: RunOutcome) => void)[] = [];

  function publishAll(topics: readonly Topic[], runId: number): void {
    for (const topic of topics) {
      if (topic === 'status' || topic === 'models') changes.publish(topic);
      else changes.publish(topic, runId);
    }
  }

  function update(runId: number, change: (entry: Entry) => Entry): void {
    const entry = entries.get(runId);
    if (entry === undefined) return;
    const next = change(entry);
    entries.set(runId, next);
    if (next.status.silentSeconds !== entry.status.silentSeconds) publishAll(PROGRESS, runId);
  }

  return {
    add: (run, status) => {
      const check = () => update(run.runId, (entry) => quieter(entry, silence));
      const listening = setInterval(check, silence.everyMs).unref();
      entries.set(run.runId, { run, listening, status, quietMs: 0 });
      for (const listener of startListeners) listener(status);
      publishAll(EVERYTHING, run.runId);
    },
    remove: (outcome) => {
      clearInterval(entries.get(outcome.runId)?.listening);
      entries.delete(outcome.runId);
      publishAll(EVERYTHING, outcome.runId);
      // One that can't store what it learned must not keep the others from learning it.
      for (const listener of endListeners) guarded(() => listener(outcome));
    },
    hear: (runId, events) => {
      if (!entries.has(runId)) return;
      update(runId, (entry) => ({ ...entry, quietMs: 0, status: events.reduce(advance, entry.status) }));
      publishAll(topicsOf(events), runId);
      if (!events.every(isAlive)) for (const listener of eventListeners) guarded(() => listener(runId, events));
    },
    asked: (runId, kind) => update(runId, (entry) => ({ ...entry, status: asked(entry.status, kind) })),
    publish: (runId) => publishAll(EVERYTHING, runId),
    run: (runId) => entries.get(runId)?.run ?? null,
    runs: () => [...entries.values()].map(({ run }) => run),
    get: (runId) => entries.get(runId)?.status ?? null,
    list: () => [...entries.values()].map(({ status }) => status),
    onEvents: (listener) => void eventListeners.push(listener),
    onStart: (listener) => void startListeners.push(listener),
    onEnd: (listener) => void endListeners.push(listener),
  };
}

/** The state that a listener couldn't store is found and stored by the host's next look at the database. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    logFault('Following a run', error);
  }
}

/** Followers of the run or the status bar. */
const PROGRESS = ['run', 'status'] as const satisfies readonly Topic[];
/** Also readers of the list or the whole record. */
const EVERYTHING = [...PROGRESS, 'runs'] as const satisfies readonly Topic[];

const isAlive = ({ kind }: TrainerEvent): boolean => kind === 'alive';

/** What a batch changes for readers. There may be several steps per second: the list of runs needs none of them. */
export function topicsOf(events: readonly TrainerEvent[]): readonly Topic[] {
  if (events.every(isAlive)) return [];
  const kinds = new Set(events.map(({ kind }) => kind));
  return [
    ...(events.every(({ kind }) => kind === 'alive' || kind === 'step') ? PROGRESS : EVERYTHING),
    ...(kinds.has('checkpoint') ? (['models'] as const) : []),
    ...(kinds.has('samples') ? (['samples'] as const) : []),
  ];
}

/** One check later. Time is counted in checks, not by the clock: otherwise the machine's own sleep would count. */
function quieter(entry: Entry, { everyMs, shortestMs }: SilenceWatch): Entry {
  const quietMs = entry.quietMs + everyMs;
  const silentSeconds = silenceToTell(entry.status, quietMs, shortestMs);
  return { ...entry, quietMs, status: { ...entry.status, silentSeconds } };
}
