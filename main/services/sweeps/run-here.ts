/** A sweep in this process rather than in the queue: a command or an agent runs it, one run after the other. */
import { BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { SweepRow, SweepState } from '../../store/sweeps.ts';
import type { LiveRuns } from '../training/live-runs.ts';
import { currentHost, isHostAlive } from '../workspace/host.ts';
import { requireSweep, type SweepRuns } from './sweep-runs.ts';

/** How often it tells other processes that this one lives. */
const BEAT_MS = 30_000;

export interface SweepHost {
  readonly store: Store;
  readonly live: LiveRuns;
  readonly sweeps: SweepRuns;
}

/** Makes the trials follow the runs of this process, and updates those whose process is gone. */
export function followSweeps({ live, sweeps }: SweepHost): void {
  sweeps.updateEnded();
  live.onEnd(({ runId, kept, error }) =>
    sweeps.ended(runId, kept ? null : (error?.message ?? 'It could not start'), error),
  );
}

/** Runs it until it is done, paused or cancelled; returns that state. `onRun` hears each run before and after. */
export async function runSweepHere(
  { store, live, sweeps }: SweepHost,
  sweepId: number,
  onRun: { readonly before?: (runId: number) => void; readonly after?: () => void } = {},
): Promise<SweepState> {
  store.sweeps.claim(sweepId, currentHost());
  const beat = setInterval(() => store.sweeps.beat(sweepId), BEAT_MS).unref();
  try {
    for (let last: number | null = null; requireSweep(store, sweepId).state === 'running'; ) {
      const runId = sweeps.startNext(sweepId);
      if (runId === null) {
        if (requireSweep(store, sweepId).state !== 'running') break;
        sweeps.pause(sweepId, 'None of its runs could start');
        throw stuck(sweepId, last);
      }
      onRun.before?.(runId);
      await live.outcome(runId);
      onRun.after?.();
      last = runId;
    }
  } finally {
    clearInterval(beat);
  }
  return requireSweep(store, sweepId).state;
}

function stuck(sweepId: number, last: number | null): BraidError {
  const after = last === null ? '' : ` after run ${last}`;
  return new BraidError('SWEEP_STUCK', `No run of sweep ${sweepId} can start${after}`, {
    remedy: 'Close other apps with this workspace, then resume it.',
  });
}

/** The sweep if no living process and no queue advances it; otherwise an error that says which does. */
export function requireIdleSweep(store: Store, sweepId: number): SweepRow {
  const sweep = requireSweep(store, sweepId);
  if (sweep.queuedAt !== null)
    throw inputError('SWEEP_BUSY', `"${sweep.name}" is in the queue`, 'Pause it in the app, or use braid queue run.');
  if (sweep.state === 'running' && isHostAlive(sweep, store.now()))
    throw inputError('SWEEP_BUSY', `"${sweep.name}" runs in process ${sweep.pid}`, 'Stop it there first.');
  return sweep;
}
