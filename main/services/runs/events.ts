/** Stores the trainer's event batches in the history: one transaction per batch, each step and sample once. */

import { BraidError, inputError } from '../../errors.ts';
import { largest } from '../../lists.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import { formatBytes, pacesInWords } from '../../text/format.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { toStoredPath } from '../workspace/workspace.ts';
import { storeEvaluation } from './evaluation.ts';

type EventOf<K extends TrainerEvent['kind']> = Extract<TrainerEvent, { kind: K }>;

/** Stores a batch atomically. Storing the same batch again changes nothing. */
export function recordEvents(store: Store, runId: number, events: readonly TrainerEvent[]): void {
  if (events.length === 0) return;
  store.transaction(() => {
    const run = store.runs.get(runId);
    if (run === undefined) {
      throw inputError('RUN_UNKNOWN', `There is no run with id ${runId} to store events for`);
    }
    for (const event of events) recordEvent(store, run, event);
    store.runs.advance(
      runId,
      largest(
        events.map((event) => ('step' in event ? event.step : 0)),
        0,
      ),
    );
  });
}

function recordEvent(store: Store, run: RunRow, event: TrainerEvent): void {
  switch (event.kind) {
    case 'alive':
      store.runs.beat(run.id);
      break;
    case 'ready':
      recordReady(store, run, event);
      break;
    case 'step':
      store.metrics.record(run.id, event.step, event.metrics);
      store.promptGroups.record(run.id, event.step, event.groups ?? []);
      break;
    case 'samples':
      store.samples.record(run.id, event.step, event.samples);
      break;
    case 'checkpoint':
      recordCheckpoint(store, run.id, event.step, event.path, 'periodic');
      break;
    case 'evaluation':
      storeEvaluation(store, run, event);
      break;
    case 'warning':
      recordWarning(store, run, event);
      break;
    case 'estimate': {
      const { kind, step, ...data } = event;
      const message = `About ${pacesInWords(data)} and ${formatBytes(data.memoryBytes)}`;
      addHostEvent(store, run.id, step, { kind, severity: 'info', message, data });
      break;
    }
    case 'notice': {
      const { kind, message, remedy, topic } = event;
      addHostEvent(store, run.id, event.step, { kind, severity: 'info', message, remedy, data: { topic } });
      break;
    }
    case 'paused':
      addHostEvent(store, run.id, event.step, { kind: 'paused', severity: 'info', message: event.reason });
      setIfLive(store, run.id, 'paused', event.reason);
      break;
    case 'resumed':
      addHostEvent(store, run.id, event.step, {
        kind: 'resumed',
        severity: 'info',
        message: 'Resumed after the pause',
      });
      setIfLive(store, run.id, 'running', null);
      break;
    case 'done':
      store.metrics.record(run.id, event.step, event.metrics ?? {});
      recordDone(store, run, event);
      break;
    case 'failed':
      recordFailed(store, run, event);
      break;
    default:
      refuse(event);
  }
}

/** A trainer of another version may send events that this one doesn't know. */
function refuse(event: never): never {
  throw new BraidError('EVENT_UNKNOWN', `Expected an event of the trainer, got ${JSON.stringify(event)}`);
}

interface HostEvent {
  readonly kind: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly remedy?: string | null;
  readonly data?: unknown;
}

/** Adds one of the host's own events to a run's history. */
export function addHostEvent(store: Store, runId: number, step: number, entry: HostEvent): void {
  store.events.record({ runId, step, ...entry, remedy: entry.remedy ?? null, data: entry.data ?? null });
}

function recordReady(store: Store, run: RunRow, event: EventOf<'ready'>): void {
  const { kind, ...data } = event;
  store.runs.setBackend(run.id, event.backend);
  addHostEvent(store, run.id, run.step, { kind, severity: 'info', message: `${event.backend}: ${event.why}`, data });
}

function recordWarning(store: Store, run: RunRow, event: EventOf<'warning'>): void {
  const { kind, message, remedy, rule } = event;
  addHostEvent(store, run.id, event.step, { kind, severity: 'warning', message, remedy, data: { rule } });
}

function recordCheckpoint(store: Store, runId: number, step: number, path: string, kind: 'periodic' | 'final'): void {
  store.checkpoints.record(runId, step, toStoredPath(store.folder, path), kind);
}

function recordDone(store: Store, run: RunRow, event: EventOf<'done'>): void {
  if (event.path !== null) recordCheckpoint(store, run.id, event.step, event.path, 'final');
  const message = event.stopped ? `Stopped at step ${event.step}` : `Finished at step ${event.step}`;
  addHostEvent(store, run.id, event.step, { kind: 'done', severity: 'info', message });
  store.runs.setState(run.id, event.stopped ? 'stopped' : 'done', event.stopped ? 'Stopped on request' : null);
}

function recordFailed(store: Store, run: RunRow, event: EventOf<'failed'>): void {
  const { message, remedy, code } = event;
  // A run that could not be resumed has its steps still: its trainer has made none.
  addHostEvent(store, run.id, Math.max(event.step, run.step), {
    kind: 'failed',
    severity: 'error',
    message,
    remedy,
    data: { code },
  });
  store.runs.setState(run.id, 'failed', message);
}

/** A batch that arrives after the end (the process was killed with events in flight) must not revive the run. */
function setIfLive(store: Store, runId: number, state: 'running' | 'paused', reason: string | null): void {
  const now = store.runs.get(runId)?.state;
  if (now === 'running' || now === 'paused') store.runs.setState(runId, state, reason);
}

/** Deletes everything beyond `step`: the run resumes from that checkpoint and repeats it. */
export function discardAfter(store: Store, runId: number, step: number): void {
  store.transaction(() => {
    store.metrics.discardAfter(runId, step);
    store.promptGroups.discardAfter(runId, step);
    store.samples.discardAfter(runId, step);
    store.evaluations.discardAfter(runId, step);
    store.events.discardAfter(runId, step);
    store.checkpoints.discardAfter(runId, step);
    store.runs.rewind(runId, step);
  });
}
