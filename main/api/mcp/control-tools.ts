/** What an agent may do with --allow-control: start, stop and resume runs, in processes of this server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { BraidError } from '../../errors.ts';
import { requireRun } from '../../services/runs/runs.ts';
import type { LiveRuns } from '../../services/training/live-runs.ts';
import type { RunOutcome } from '../../services/training/run-outcome.ts';
import type { PathAccess } from '../context.ts';
import { newRunConfig, type RunPlace, resumeRun } from '../run-control.ts';
import { type Tool, tool } from './tool.ts';

/** How long a call waits for the trainer to be ready, or for a run to have saved and ended. */
const WAIT_MS = 20_000;

const id = z.int().min(1);

/** The tools that change something; `place` and `access` are what the app's pages go through too. */
export function controlTools(place: RunPlace, live: LiveRuns, access: PathAccess): readonly Tool[] {
  const { store } = place;
  const untilReady = readiness(live);

  /** The run as it is once its trainer is ready; an error if it was rejected. */
  async function started(runId: number): Promise<unknown> {
    const outcome = await untilReady(runId);
    if (outcome !== null && outcome.error !== null) throw outcome.error;
    const { name, state, step, maxSteps } = requireRun(store, runId);
    const trainer = live.get(runId)?.state ?? 'ended';
    return { run_id: runId, name, state, trainer, step, max_steps: maxSteps };
  }

  return [
    tool(
      'start_run',
      {
        readOnly: false,
        description:
          'Starts a training run: fields of a configuration over a preset, or over the configuration of another run. describe_config lists fields and presets. The configuration is checked first.',
        input: z.strictObject({
          preset: z.string().min(1).max(500).default('interleave-tiny'),
          like: id.optional().describe('Take the settings of this run instead of a preset.'),
          name: z.string().trim().min(1).max(500).optional(),
          config: z.record(z.string().max(100), z.unknown()).default({}),
        }),
      },
      ({ name, ...request }) =>
        started(live.start(newRunConfig(place, access, request), name === undefined ? {} : { name })),
    ),
    tool(
      'stop_run',
      {
        readOnly: false,
        description: 'Stops a run that this server started or resumed: it finishes its step and saves a checkpoint.',
        input: z.strictObject({ run_id: id }),
      },
      async ({ run_id: runId }) => {
        refuseElsewhere(place, live, runId);
        const ended = live.outcome(runId);
        live.command(runId, 'stop');
        const outcome = await Promise.race([ended, wait()]);
        const { state, step } = requireRun(store, runId);
        return {
          run_id: runId,
          state: outcome === null ? 'stopping' : state,
          step,
          checkpoint: outcome?.checkpoint ?? null,
        };
      },
    ),
    tool(
      'resume_run',
      {
        readOnly: false,
        description: 'Resumes a paused run, or one that has ended, from its newest or the given checkpoint.',
        input: z.strictObject({
          run_id: id,
          checkpoint_id: id.optional().describe('As get_run gives it. Later steps are deleted and repeated.'),
          max_steps: z.int().min(1).max(10_000_000).optional().describe('A new total number of steps.'),
        }),
      },
      ({ run_id: runId, checkpoint_id: checkpointId, max_steps: maxSteps }) => {
        resumeRun(store, live, { runId, checkpointId, maxSteps });
        return started(runId);
      },
    ),
  ];
}

/** A run of the app or of another command can't be reached from here. */
function refuseElsewhere({ store }: RunPlace, live: LiveRuns, runId: number): void {
  const { name, state, pid } = requireRun(store, runId);
  if (live.get(runId) !== null || (state !== 'running' && state !== 'paused')) return;
  throw new BraidError('RUN_ELSEWHERE', `${name} trains in another process (${pid ?? 'unknown'})`, {
    kind: 'input',
    remedy: 'Stop it in the app or the terminal where it was started.',
  });
}

/** A function that waits until a run's trainer is ready (null), or the run has ended. */
function readiness(live: LiveRuns): (runId: number) => Promise<RunOutcome | null> {
  const waiting = new Map<number, () => void>();
  live.onEvents((runId, events) => {
    if (events.some(({ kind }) => kind === 'ready' || kind === 'step')) waiting.get(runId)?.();
  });
  return async (runId) => {
    const ready = new Promise<null>((resolve) => waiting.set(runId, () => resolve(null)));
    try {
      return await Promise.race([ready, live.outcome(runId), wait()]);
    } finally {
      waiting.delete(runId);
    }
  };
}

function wait(): Promise<null> {
  return sleep(WAIT_MS, null, { ref: false });
}
