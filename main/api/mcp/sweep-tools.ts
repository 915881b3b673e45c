/** Sweeps and the queue for an agent: the table of a sweep, and with --allow-control starting, pausing, cancelling. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { createSweep } from '../../services/sweeps/create.ts';
import { draftSweep } from '../../services/sweeps/draft.ts';
import { sweepPlanSchema } from '../../services/sweeps/plan.ts';
import { sweepReport } from '../../services/sweeps/report.ts';
import { listSweeps, type SweepSummary, sweepView } from '../../services/sweeps/result.ts';
import { requireIdleSweep, runSweepHere, type SweepHost } from '../../services/sweeps/run-here.ts';
import { requireSweep, retryTrials } from '../../services/sweeps/sweep-runs.ts';
import { plannedLater } from '../../services/training/planned-start.ts';
import type { HostPaths } from '../../services/workspace/paths.ts';
import type { Store } from '../../store/index.ts';
import { checkConfigPaths } from '../config-paths.ts';
import type { PathAccess } from '../context.ts';
import { baseFields, newRunConfig } from '../run-control.ts';
import { type Tool, tool } from './tool.ts';

const id = z.int().min(1);
const sweep_id = id.describe('As list_sweeps gives it.');
const sweep = z.strictObject({ sweep_id });
const nothing = z.strictObject({});

/** Settings over a preset's or a run's. */
const base = {
  preset: z.string().min(1).max(500).default('interleave-tiny'),
  like: id.optional().describe('Take the settings of this run instead of a preset.'),
  config: z.record(z.string().max(100), z.unknown()).default({}),
};

/** The tools that read sweeps and the queue. */
export function sweepReadTools({ store }: { readonly store: Store }): readonly Tool[] {
  return [
    tool(
      'list_sweeps',
      {
        description: 'Sweeps: plans of many runs, each a setting and a seed. The newest first, with their progress.',
        input: nothing,
      },
      () => ({ sweeps: listSweeps(store).map(sweepRow) }),
    ),
    tool(
      'get_sweep',
      {
        description:
          'One sweep: each setting with mean and 95% interval over its seeds, how far it is behind the leader and whether that is significant, pass@k over seeds, and its runs. `best` is null unless one setting is significantly better than every other.',
        input: sweep,
      },
      ({ sweep_id: sweepId }) => store.snapshot(() => sweepReport(sweepView(store, sweepId))),
    ),
    tool('list_queue', { description: 'What waits to be trained, the next one first.', input: nothing }, () => ({
      queue: queueRows(store),
    })),
  ];
}

export interface SweepPlace extends SweepHost {
  readonly paths: HostPaths;
  /** Reports what ended a sweep that nobody waits for. */
  readonly report: (message: string) => void;
}

/** The tools that change sweeps and the queue. */
export function sweepControlTools(place: SweepPlace, access: PathAccess): readonly Tool[] {
  const { store, paths, live, sweeps, report } = place;
  const readOnly = false;
  const state = (sweepId: number): object => {
    const { name, state: now, reason } = requireSweep(store, sweepId);
    return { sweep_id: sweepId, name, state: now, reason };
  };
  /** In the background: a call doesn't wait for hours. */
  const run = (sweepId: number): object => {
    runSweepHere(place, sweepId).catch((error: unknown) => report(String(error)));
    return state(sweepId);
  };

  return [
    tool(
      'start_sweep',
      {
        readOnly,
        description:
          'Starts a sweep: a plan of settings and seeds over a preset or the configuration of a run, trained one run after the other by this server. It pauses when this connection ends and can be resumed. With `queue` it goes to the queue of the workspace instead, and an open app trains it. describe_config lists fields and presets; get_sweep has the results.',
        input: z.strictObject({
          ...base,
          plan: sweepPlanSchema.describe(
            'For instance {"name": "rates", "fields": {"learning_rate": [1e-4, 2e-4]}, "seeds": 3}; halving stops the losers early.',
          ),
          queue: z.boolean().default(false),
        }),
      },
      ({ plan, queue, ...request }) => {
        const draft = draftSweep(plan, baseFields(place, request), (config) => checkConfigPaths(config, access, place));
        if (!queue) refuseWhileTraining();
        const sweepId = createSweep(store, draft, paths);
        const size = { runs: draft.trials.length, most_steps: draft.steps };
        if (!queue) return { ...run(sweepId), ...size };
        store.sweeps.enqueue(sweepId);
        return { ...state(sweepId), ...size };
      },
    ),
    tool(
      'pause_sweep',
      {
        readOnly,
        description: 'Pauses a sweep: its run saves and stops. Only one that this server runs, or that still waits.',
        input: sweep,
      },
      ({ sweep_id: sweepId }) => {
        refuseElsewhere(sweepId);
        sweeps.pause(sweepId);
        return state(sweepId);
      },
    ),
    tool(
      'resume_sweep',
      {
        readOnly,
        description: 'Resumes a paused or cancelled sweep in this server.',
        input: sweep.extend({ retry: z.boolean().default(false).describe('Also its failed and cancelled runs.') }),
      },
      ({ sweep_id: sweepId, retry }) => {
        requireIdleSweep(store, sweepId);
        refuseWhileTraining();
        if (retry) retryTrials(store, sweepId);
        return run(sweepId);
      },
    ),
    tool(
      'cancel_sweep',
      {
        readOnly,
        description: 'Stops a sweep for good: its run saves and stops, the others are never started. Results are kept.',
        input: sweep,
      },
      ({ sweep_id: sweepId }) => {
        refuseElsewhere(sweepId);
        sweeps.cancel(sweepId);
        return state(sweepId);
      },
    ),
    tool(
      'queue_run',
      {
        readOnly,
        description:
          'Puts a run into the queue of the workspace. An open app trains it when its turn comes, whether or not this connection still exists; without an app it waits. The configuration is checked first.',
        input: z.strictObject({ ...base, name: z.string().trim().min(1).max(500).optional() }),
      },
      ({ name, ...request }) => {
        const config = plannedLater(store, newRunConfig(place, access, request), paths);
        const queued = store.queue.addRun(name ?? null, config);
        return { place: `run:${queued}`, queue: queueRows(store) };
      },
    ),
    tool(
      'remove_from_queue',
      {
        readOnly,
        description: 'Takes one out of the queue: a queued run is dropped, a sweep pauses, a stage is planned again.',
        input: z.strictObject({ place: z.string().max(40).describe('As list_queue gives it: run:3.') }),
      },
      ({ place: key }) => {
        const found = store.queue.list().find(({ kind, id: of }) => `${kind}:${of}` === key);
        if (found === undefined)
          throw inputError('PLACE_UNKNOWN', `Expected a place of the queue, got "${key}"`, 'list_queue has them.');
        if (found.kind === 'stage') store.stages.setState(found.id, 'planned');
        else if (found.kind === 'run') store.queue.removeRun(found.id);
        else {
          refuseElsewhere(found.id);
          sweeps.pause(found.id);
        }
        return { queue: queueRows(store) };
      },
    ),
  ];

  /** Two trainings of one server would share its memory and time, and the sweep would end as stuck. */
  function refuseWhileTraining(): void {
    const [running] = live.list();
    if (running === undefined) return;
    throw inputError('RUN_BUSY', `${running.name} is training`, 'Wait for its end, stop it, or pass "queue": true.');
  }

  /** An app or a command that runs a sweep takes no orders from here. */
  function refuseElsewhere(sweepId: number): void {
    const { name, state: now, pid } = requireSweep(store, sweepId);
    const own = store.sweeps.trials(sweepId).some(({ runId }) => runId !== null && live.get(runId) !== null);
    if (now !== 'running' || own || pid === process.pid) return;
    throw inputError(
      'SWEEP_ELSEWHERE',
      `"${name}" runs in another process`,
      'Pause it in the app or the terminal there.',
    );
  }
}

function sweepRow({ id: sweep_id, settings, seeds, runs, over, failed, runId, ...sweep }: SweepSummary) {
  const { name, state, reason, inQueue, createdAt } = sweep;
  const at = new Date(createdAt).toISOString();
  return {
    sweep_id,
    name,
    state,
    reason,
    in_queue: inQueue,
    created_at: at,
    settings,
    seeds,
    runs,
    over,
    failed,
    run_id: runId,
  };
}

function queueRows(store: Store) {
  return store.queue.list().map(({ kind, id: of, name, reason }) => ({ place: `${kind}:${of}`, kind, name, reason }));
}
