import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { type ScreenKey, useKeys } from '../frame/keys.tsx';
import { useAllRuns } from '../runs/use-all-runs.ts';
import type { RunActions } from './use-run-actions.ts';

export interface RunKeysOptions {
  readonly runId: number;
  /** The live state, or the stored one; null while it isn't known, or where the run can't be controlled from here. */
  readonly state: string | null;
  readonly actions: RunActions;
  readonly onResume: () => void;
  /** Asks first: one letter must not end a run. */
  readonly onStop: () => void;
}

/** States in which a run can be asked to stop. */
const TRAINS: readonly string[] = ['starting', 'running', 'pausing', 'paused', 'resuming'];

/** The keys of the run page. */
export function useRunKeys({ runId, state, actions, onResume, onStop }: RunKeysOptions): void {
  const [, navigate] = useLocation();
  const { data: runs } = useAllRuns();
  const { pause, resume } = actions;
  const keys = useMemo(() => {
    // The list is newest first, so the next run is the previous entry.
    const place = runs?.findIndex(({ id }) => id === runId) ?? -1;
    const go = (to: number) => (): void => {
      const run = runs?.[to];
      if (place >= 0 && run !== undefined) navigate(`/runs/${run.id}`);
    };
    const trains = state !== null && TRAINS.includes(state);
    const all: (ScreenKey | false)[] = [
      state === 'running' && { key: 'p', label: 'Pause', run: pause },
      state === 'pausing' && { key: 'p', label: "Don't pause", run: () => resume() },
      state === 'paused' && { key: 'p', label: 'Resume', run: () => resume() },
      trains && { key: 's', label: 'Stop & save …', run: onStop },
      !trains &&
        state !== null &&
        state !== 'stopping' &&
        state !== 'ending' && { key: 'r', label: 'Resume from a checkpoint', run: onResume },
      { key: '[', label: 'Previous run', run: go(place + 1) },
      { key: ']', label: 'Next run', run: go(place - 1) },
      { key: 'l', label: 'List of runs', run: () => navigate('/runs') },
    ];
    return all.filter((key) => key !== false);
  }, [runs, runId, state, pause, resume, onResume, onStop, navigate]);
  useKeys(keys);
}
