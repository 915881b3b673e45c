/** The events of a run that become notices. */
import type { Store } from '../../store/index.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { standingOf } from '../runs/held-out.ts';
import { requireRun } from '../runs/runs.ts';
import type { Notices } from '../workspace/notices.ts';
import type { RunOutcome } from './run-outcome.ts';

/** A goal can be met, and a run be done, with a model that was better before. */
const WORSE = 'Compare it with what it started from, or train it again with a lower learning rate.';

/** Notifies of warnings and of pauses by the collapse watch. */
export function noticeEvent(notices: Pick<Notices, 'add'>, store: Store, runId: number, event: TrainerEvent): void {
  const { name } = requireRun(store, runId);
  if (event.kind === 'warning') {
    const { message, remedy } = event;
    notices.add({ severity: 'warning', message: `${name}, step ${event.step}: ${message}`, remedy, runId });
  }
  if (event.kind === 'paused' && event.byWatch) {
    const remedy = 'Go back to a checkpoint, change the settings, or resume.';
    notices.add({ severity: 'warning', message: `${name} was paused: ${event.reason}`, remedy, runId });
  }
}

/** Notifies of a run's end; of a sweep's runs only those that went wrong, as the sweep has a notice of its own. */
export function noticeEnd(notices: Pick<Notices, 'add'>, store: Store, outcome: RunOutcome): void {
  const { runId, state, step, error, kept } = outcome;
  const name = kept ? requireRun(store, runId).name : 'The run';
  const remedy = error?.remedy ?? null;
  if (error !== null) {
    notices.add({ severity: 'error', message: `${name}: ${error.message}`, remedy, runId: kept ? runId : null });
    return;
  }
  const message = `${name} is ${state} at step ${step}`;
  if (state === 'collapsed') return void notices.add({ severity: 'warning', message, remedy, runId });
  if (store.sweeps.trialOfRun(runId) !== undefined) return;
  const standing = standingOf(store, requireRun(store, runId));
  if (standing?.tone !== 'warn') return void notices.add({ severity: 'info', message, remedy, runId });
  notices.add({ severity: 'warning', message: `${message}. ${standing.sentence}`, remedy: WORSE, runId });
}
