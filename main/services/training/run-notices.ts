/** The events of a run that become notices. */
import type { Store } from '../../store/index.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { requireRun } from '../runs/runs.ts';
import type { Notices } from '../workspace/notices.ts';
import type { RunOutcome } from './run-outcome.ts';

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
  const severity = state === 'collapsed' ? 'warning' : 'info';
  if (severity === 'info' && store.sweeps.trialOfRun(runId) !== undefined) return;
  notices.add({ severity, message: `${name} is ${state} at step ${step}`, remedy, runId });
}
