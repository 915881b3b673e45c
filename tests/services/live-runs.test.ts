import { getPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusal } from '../../main/services/admission.ts';
import { openChanges } from '../../main/services/changes.ts';
import { openLiveRuns } from '../../main/services/live-runs.ts';
import { changeSettings, readSettings } from '../../main/services/settings.ts';
import type { LaunchTrainer } from '../../main/services/trainer-channel.ts';
import { openTinyApp } from '../api/transports.ts';
import { until } from '../until.ts';
import { tinyWorkspace } from './tiny-workspace.ts';
import { forkOf } from './trainer-stand-in.ts';

const long = { max_steps: 2000, save_steps: 2000 };

/** A launcher that notes which processes it started. */
function noting(launch: LaunchTrainer) {
  const pids: number[] = [];
  const trainer: LaunchTrainer = (env) => {
    const channel = launch(env);
    if (channel.pid !== undefined) pids.push(channel.pid);
    return channel;
  };
  return { pids, trainer };
}

describe('live runs', () => {
  it('tells where a run stands: backend, time left, memory, reward', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const runId = app.live.start(world.config(long));
    expect(app.live.get(runId)).toMatchObject({ state: 'starting', step: 0, maxSteps: 2000, backend: null });
    await until(() => (app.live.get(runId)?.step ?? 0) > 2);
    const status = app.live.get(runId);
    expect(status).toMatchObject({ state: 'running', backend: 'wasm', threads: 1 });
    expect(status?.secondsPerStep).toBeGreaterThan(0);
    expect(status?.secondsLeft).toBeGreaterThan(status?.secondsPerStep ?? Number.POSITIVE_INFINITY);
    expect(status?.memoryBytes).toBeGreaterThan(2 ** 26);
    expect(status?.reward).toBeTypeOf('number');
    app.live.command(runId, 'stop');
    expect(app.live.get(runId)?.state).toBe('stopping');
    expect(await app.live.outcome(runId)).toMatchObject({ state: 'stopped', error: null });
    expect(() => app.live.command(runId, 'pause')).toThrow(/to be training in this app, but it is stopped/);
  });

  it("trains at a lower priority than the app's pages", async () => {
    const world = await tinyWorkspace();
    const { pids, trainer } = noting(world.paths.trainer);
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
    const runId = app.live.start(world.config(long));
    await until(() => (app.live.get(runId)?.step ?? 0) > 0);
    expect(pids).toHaveLength(1);
    expect(getPriority(pids[0])).toBeGreaterThan(getPriority());
  });

  it('ends a trainer that hangs, and says so', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer: forkOf(world.paths, 'SIGSTOP') } });
    changeSettings(app.store, { hang_minutes: 0.04 });
    const runId = app.live.start(world.config(long));
    const outcome = await app.live.outcome(runId);
    expect(outcome).toMatchObject({ state: 'interrupted', error: { code: 'TRAINER_DIED' } });
    expect(app.store.runs.get(runId)?.reason).toBe('The trainer process hung: it said nothing for 2 s and was ended');
    expect(app.notices.list()[0]).toMatchObject({ severity: 'error', runId, message: expect.stringContaining('hung') });
  });

  it('tells of a trainer that is silent for longer than usual, and no more once it speaks', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const { pids, trainer } = noting(paths.trainer);
    const changes = openChanges();
    const silence = { everyMs: 200, shortestMs: 4000 };
    const live = openLiveRuns(store, {
      ...{ paths: { ...paths, trainer }, changes, settings: () => readSettings(store), silence },
    });
    onTestFinished(() => live.close(0));
    const runId = live.start(config(long));
    await until(() => (live.get(runId)?.step ?? 0) > 2);
    expect(live.get(runId)?.silentSeconds).toBeNull();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const told: unknown[] = [];
    const listening = new AbortController();
    void (async () => {
      for await (const batch of changes.batches(50, listening.signal)) told.push(...batch);
    })();
    await until(() => live.get(runId)?.silentSeconds === 5);
    expect(live.get(runId)?.state).toBe('running');
    expect(told).toContainEqual(expect.objectContaining({ topic: 'run', id: runId }));
    expect(told).toContainEqual(expect.objectContaining({ topic: 'status' }));
    listening.abort();
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await until(() => live.get(runId)?.silentSeconds === null);
  });

  it('does not take a paused run for hung', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    changeSettings(app.store, { hang_minutes: 0.1 });
    const runId = app.live.start(world.config(long));
    await until(() => (app.live.get(runId)?.step ?? 0) > 1);
    app.live.command(runId, 'pause');
    await until(() => app.live.get(runId)?.state === 'paused');
    await sleep(7000);
    expect(app.live.get(runId)?.state).toBe('paused');
    app.live.command(runId, 'resume');
    await until(() => app.live.get(runId)?.state === 'running');
  });

  it('keeps the last words of a trainer that crashes, and the app stays up', async () => {
    const world = await tinyWorkspace();
    const trainer = forkOf(world.paths, 'crash');
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
    const runId = app.live.start(world.config(long));
    expect(await app.live.outcome(runId)).toMatchObject({ state: 'interrupted' });
    expect(app.store.runs.get(runId)?.reason).toMatch(/ended with code 1: .*Cannot allocate the moon/s);
  });

  it('lets one run train at a time, unless the settings and the memory allow more', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const first = app.live.start(world.config(long));
    expect(() => app.live.start(world.config(long))).toThrow(/Expected room for another run/);
    expect(app.store.runs.list()).toHaveLength(1);
    changeSettings(app.store, { concurrent_runs: 2 });
    const second = app.live.start(world.config(long));
    expect(app.live.list().map(({ runId }) => runId)).toEqual([first, second]);
    expect(() => app.live.resume(first)).toThrow(/it is (starting|running)/);
  });

  it('saves what trains when the app closes, and can go on with it', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const runId = app.live.start(world.config(long));
    await until(() => (app.live.get(runId)?.step ?? 0) > 2);
    await app.close();
    const again = openTinyApp(world);
    const run = again.store.runs.get(runId);
    expect(run?.state).toBe('stopped');
    expect(again.store.checkpoints.ofRun(runId).at(-1)?.step).toBe(run?.step);
    again.live.resume(runId);
    await until(() => (again.live.get(runId)?.step ?? 0) > (run?.step ?? 0));
  });
});

describe('refusal', () => {
  const gib = 2 ** 30;
  const wanted = { name: 'new', memoryBytes: 2 * gib };
  const live = [{ name: 'old', memoryBytes: gib }];

  it('always admits the first, then by number and by memory', () => {
    expect(refusal([], wanted, { concurrentRuns: 1, freeBytes: 0 })).toBeNull();
    expect(refusal(live, wanted, { concurrentRuns: 1, freeBytes: 64 * gib })?.code).toBe('RUN_BUSY');
    expect(refusal(live, wanted, { concurrentRuns: 2, freeBytes: 64 * gib })).toBeNull();
    const tight = refusal(live, wanted, { concurrentRuns: 2, freeBytes: 2 * gib });
    expect(tight).toMatchObject({ code: 'NO_MEMORY_FOR_RUN', message: expect.stringContaining('2.0 GiB') });
  });
});
