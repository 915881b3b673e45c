import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createRun } from '../../../main/services/runs/runs.ts';
import { type FollowedRun, followRun, sendRun, trackerWarnings } from '../../../main/services/trackers/follow.ts';
import {
  type RunEnd,
  type TrackedStep,
  type Tracker,
  TrackerRefusal,
} from '../../../main/services/trackers/tracker.ts';
import { startTraining } from '../../../main/services/training/training.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { sampleOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';
import { mlflowDouble } from './mlflow-double.ts';

/** A tracker that keeps what it gets; `fault` is thrown at the next questions. */
function keeping() {
  const kept = {
    opened: [] as (string | null)[],
    steps: [] as TrackedStep[],
    tables: [] as number[],
    ended: [] as (RunEnd | null)[],
  };
  let fault: Error | null = null;
  let holdMs = 0;
  const answer = async (): Promise<void> => {
    if (holdMs > 0) await new Promise((later) => setTimeout(later, holdMs));
    if (fault !== null) throw fault;
  };
  const tracker: Tracker = {
    name: 'mlflow',
    title: 'MLflow',
    open: async (_, id) => {
      await answer();
      kept.opened.push(id);
      return 'r1';
    },
    log: async (steps) => {
      await answer();
      kept.steps.push(...steps);
    },
    table: async ({ step }) => {
      await answer();
      kept.tables.push(step);
    },
    close: async (end) => {
      await answer();
      kept.ended.push(end);
    },
    drop: () => undefined,
  };
  const set = (change: { readonly fault?: Error | null; readonly holdMs?: number }): void => {
    if (change.fault !== undefined) fault = change.fault;
    if (change.holdMs !== undefined) holdMs = change.holdMs;
  };
  return { ...kept, tracker, set };
}

function run() {
  const store = temporaryStore();
  const config = parseConfig({ dataset: '/data/10words.jsonl' });
  const { runId } = createRun(store, config);
  const followed: FollowedRun = {
    store,
    runId,
    folder: temporaryFolder(),
    project: 'p',
    name: 'n',
    config,
    startedAt: 0,
  };
  const step = (n: number): void => store.metrics.record(runId, n, { step_time: 1, reward: n / 10 });
  const said = () => store.events.ofRun(runId).filter(({ kind }) => kind === 'tracker');
  return { store, runId, followed, step, said };
}

const FINISHED: RunEnd = { how: 'finished', at: 9 };
const FAST = { everyMs: 1, retryMs: 5, mostMs: 20, lastMs: 200 };

describe('followRun', () => {
  it('sends each step, evaluation and table once, in their order', async () => {
    const { store, runId, followed, step } = run();
    const { tracker, steps, tables, ended, opened } = keeping();
    const follower = followRun(followed, [tracker], FAST);
    for (const n of [1, 2, 3]) {
      step(n);
      if (n === 2) store.samples.record(runId, 2, [sampleOf({ index: 0 })]);
      follower.poke();
      follower.poke();
    }
    await vi.waitFor(() => expect(steps).toHaveLength(3));
    step(4);
    await follower.finish(FINISHED);
    expect(steps.map(({ step: at, metrics }) => [at, metrics.reward])).toEqual([1, 2, 3, 4].map((n) => [n, n / 10]));
    expect([tables, ended, opened]).toEqual([[2], [FINISHED], [null]]);
  });

  it('keeps everything for a tracker that is away, and says so once', async () => {
    const { followed, step, said } = run();
    const { tracker, steps, set } = keeping();
    const follower = followRun(followed, [tracker], FAST);
    set({ fault: new Error('connection refused') });
    step(1);
    follower.poke();
    await vi.waitFor(() => expect(said()).toHaveLength(1));
    step(2);
    await new Promise((later) => setTimeout(later, 50));
    set({ fault: null });
    await vi.waitFor(() => expect(said()).toHaveLength(2));
    expect(said().map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', 'MLflow is away (connection refused)'],
      ['info', 'MLflow is back, and has what it missed'],
    ]);
    expect(steps.map((sent) => sent.step)).toEqual([1, 2]);
    await follower.finish(FINISHED);
  });

  it('gives up one that refuses, and ends a run that another is slow for', async () => {
    const refused = run();
    const no = keeping();
    no.set({ fault: new TrackerRefusal('no such user', 'Check it.') });
    const follower = followRun(refused.followed, [no.tracker], FAST);
    refused.step(1);
    follower.poke();
    await vi.waitFor(() => expect(refused.said()[0]?.message).toBe('Nothing is sent to MLflow: no such user'));
    await follower.finish(FINISHED);
    expect(refused.said()).toHaveLength(1);

    const late = run();
    const slow = keeping();
    slow.set({ holdMs: 10_000 });
    const other = followRun(late.followed, [slow.tracker], FAST);
    late.step(1);
    const began = Date.now();
    await other.finish(FINISHED);
    expect(Date.now() - began).toBeLessThan(5000);
    expect(trackerWarnings(late.store, late.runId)).toEqual([
      `MLflow lacks the run's end. braid export --run ${late.runId} --for mlflow sends it.`,
    ]);
  });

  it('resumes where it was, and sends nothing twice', async () => {
    const { followed, step } = run();
    const first = keeping();
    step(1);
    await followRun(followed, [first.tracker], FAST).finish(FINISHED);
    expect(JSON.parse(readFileSync(join(followed.folder, 'trackers.json'), 'utf8'))).toMatchObject({
      mlflow: { id: 'r1', step: 1 },
    });
    const second = keeping();
    step(2);
    expect(await sendRun(followed, second.tracker, FINISHED)).toBe(1);
    expect([second.opened, second.steps.map((sent) => sent.step)]).toEqual([['r1'], [2]]);
    expect(await sendRun(followed, second.tracker, FINISHED)).toBe(0);
    step(3);
    second.set({ fault: new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }) });
    await expect(sendRun(followed, second.tracker, FINISHED)).rejects.toMatchObject({
      code: 'TRACKER_AWAY',
      message: 'MLflow failed: fetch failed: connect ECONNREFUSED',
    });
  });

  it('sends the end that a process which was killed still owed, once', async () => {
    const { followed, step } = run();
    const first = keeping();
    step(1);
    expect(await sendRun(followed, first.tracker, null)).toBe(1);
    expect(first.ended).toEqual([null]);
    const second = keeping();
    const end: RunEnd = { how: 'killed', at: 7 };
    expect([await sendRun(followed, second.tracker, end), await sendRun(followed, second.tracker, end)]).toEqual([
      0, 0,
    ]);
    expect([second.opened, second.ended]).toEqual([['r1'], [end]]);
  });

  it('asks nothing of a tracker where there is nothing to say', async () => {
    const { followed } = run();
    const { tracker, opened, ended } = keeping();
    await followRun(followed, [tracker], FAST).finish({ how: 'failed', at: 1 });
    expect([opened, ended, existsSync(join(followed.folder, 'trackers.json'))]).toEqual([[], [], false]);
  });
});

describe('a run with report_to', () => {
  it('is in MLflow with its configuration, every number and its completions', async () => {
    const server = await mlflowDouble();
    vi.stubEnv('MLFLOW_TRACKING_URI', server.url);
    const { store, paths, config } = await tinyWorkspace();
    const settings = config({
      ...{ max_steps: 2, eval_steps: 1, eval_records: 2, sample_steps: 1 },
      ...{ report_to: ['mlflow'], project: 'mine' },
    });
    const { outcome, runId } = startTraining(store, settings, { paths });
    expect((await outcome).state).toBe('done');
    const sent = (name: string) =>
      server.metrics.filter(({ key }) => key === name).map(({ step, value }) => [step, value]);
    expect(sent('reward')).toEqual(store.metrics.series(runId, 'reward').map(({ step, value }) => [step, value]));
    expect(sent('eval_alignment').map(([step]) => step)).toEqual([0, 1, 2]);
    expect(server.params.get('max_steps')).toBe('2');
    expect(server.artifacts.size).toBe(2);
    expect(server.statuses).toEqual(['FINISHED']);
    vi.unstubAllEnvs();
  });
});
