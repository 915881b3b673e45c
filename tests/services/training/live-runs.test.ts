import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readStderr } from '../../../main/services/runs/files.ts';
import type { LaunchTrainer } from '../../../main/services/trainer-process/channel.ts';
import { promisedBytes, refusal } from '../../../main/services/training/admission.ts';
import { openLiveRuns } from '../../../main/services/training/live-runs.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { changeSettings, readSettings } from '../../../main/services/workspace/settings.ts';
import { promisedToOthers } from '../../../main/trainer/memory/environment.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { openTinyApp } from '../../api/transports.ts';
import { until } from '../../until.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';
import { forkOf } from './trainer-stand-in.ts';

const long = { max_steps: 2000, save_steps: 2000 };

/** A launcher that notes which processes it started, and the variables that were added for them. */
function noting(launch: LaunchTrainer) {
  const pids: number[] = [];
  const given: NodeJS.ProcessEnv[] = [];
  const trainer: LaunchTrainer = (env) => {
    given.push(env ?? {});
    const channel = launch(env);
    if (channel.pid !== undefined) pids.push(channel.pid);
    return channel;
  };
  return { pids, given, trainer };
}

describe('live runs', () => {
  it('reports the state of a run: backend, time left, memory, reward', async () => {
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
    expect(() => app.live.command(runId, 'pause')).toThrow(/is not training in this app: it is stopped/);
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
    expect(app.store.runs.get(runId)?.reason).toBe('The trainer process hung: it was silent for 2 s and was killed');
    expect(app.notices.list()[0]).toMatchObject({ severity: 'error', runId, message: expect.stringContaining('hung') });
  });

  it('reports a trainer that is silent for longer than usual, until it sends a message', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const { pids, trainer } = noting(paths.trainer);
    const changes = openChanges();
    const silence = { everyMs: 200, shortestMs: 4000 };
    const live = openLiveRuns(store, {
      paths: { ...paths, trainer },
      changes,
      settings: () => readSettings(store),
      silence,
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

  it('does not treat a paused run as hung', async () => {
    const world = await tinyWorkspace();
    let alive = 0;
    const trainer: LaunchTrainer = (env) => {
      const channel = world.paths.trainer(env);
      channel.onMessage((events) => {
        alive += (events as readonly TrainerEvent[]).filter(({ kind }) => kind === 'alive').length;
      });
      return channel;
    };
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
    const runId = app.live.start(world.config(long));
    await until(() => (app.live.get(runId)?.step ?? 0) > 1);
    app.live.command(runId, 'pause');
    await until(() => app.live.get(runId)?.state === 'paused');
    // Each sign of life restarts the clock of `hang_minutes` (spawnTrainer).
    const before = alive;
    await until(() => alive > before);
    expect(app.live.get(runId)?.state).toBe('paused');
    app.live.command(runId, 'resume');
    await until(() => app.live.get(runId)?.state === 'running');
  });

  it('keeps the last stderr output of a trainer that crashes, and the app stays up', async () => {
    const world = await tinyWorkspace();
    const trainer = forkOf(world.paths, 'crash');
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
    const runId = app.live.start(world.config(long));
    expect(await app.live.outcome(runId)).toMatchObject({ state: 'interrupted' });
    const run = app.store.runs.get(runId);
    expect(run?.reason).toMatch(/ended with code 1: Error: Cannot allocate the moon\n/);
    // What libraries logged is not part of the reason, but kept.
    expect(run?.reason).not.toContain('port.cc');
    const said = readStderr(join(app.store.folder, run?.folder ?? ''));
    expect(said).toMatch(/port\.cc.*Cannot allocate the moon/s);
  });

  it('lets one run train at a time, unless the settings and the memory allow more', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const first = app.live.start(world.config(long));
    expect(() => app.live.start(world.config(long))).toThrow(/No room for another run/);
    expect(app.store.runs.list()).toHaveLength(1);
    changeSettings(app.store, { concurrent_runs: 2 });
    const available = vi.spyOn(process, 'availableMemory').mockReturnValue(2 ** 20);
    onTestFinished(() => available.mockRestore());
    expect(() => app.live.start(world.config(long))).toThrow(/Not enough memory for another run/);
    available.mockReturnValue(64 * 2 ** 30);
    const second = app.live.start(world.config(long));
    expect(app.live.list().map(({ runId }) => runId)).toEqual([first, second]);
    expect(() => app.live.resume(first)).toThrow(/is (starting|running)/);
  });

  it('saves active runs when the app closes, and can resume them', async () => {
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

describe('memory promised to live runs', () => {
  it('is left to them by every process that starts beside them, as far as they have not taken it', async () => {
    const world = await tinyWorkspace();
    const { given, trainer } = noting(world.paths.trainer);
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
    const runId = app.live.start(world.config(long));
    const { expected } = app.live.get(runId) ?? {};
    expect(promisedToOthers(given[0])).toEqual({ host: 0, gpu: 0 });
    app.paths.trainer().kill();
    expect(expected?.host).toBeGreaterThan(2 ** 26);
    expect(promisedToOthers(given[1])).toEqual(expected);
    await until(() => (app.live.get(runId)?.memoryBytes ?? 0) > 2 ** 26);
    app.paths.trainer().kill();
    const { host } = promisedToOthers(given[2]);
    expect(host).toBeLessThan(expected?.host ?? 0);
    expect(host).toBe(app.live.promised().host);
  });
});

describe('the setting tf32', () => {
  it('reaches every trainer that is launched from then on', async () => {
    const world = await tinyWorkspace();
    const { given, trainer } = noting(world.paths.trainer);
    const app = openTinyApp({ ...world, paths: { ...world.paths, trainer } });
    app.paths.trainer().kill();
    changeSettings(app.store, { tf32: true });
    app.paths.trainer().kill();
    expect(given.map(({ BRAID_TF32 }) => BRAID_TF32)).toEqual([undefined, '1']);
  });
});

describe('refusal', () => {
  const gib = 2 ** 30;
  const wanted = { name: 'new', memory: { host: 2 * gib, gpu: 6 * gib } };
  const live = [{ name: 'old', memory: { host: gib, gpu: 0 } }];
  const room = { concurrentRuns: 2, freeBytes: 64 * gib, gpuFreeBytes: null };

  it('always admits the first, then by number and by memory', () => {
    expect(refusal([], wanted, { ...room, concurrentRuns: 1, freeBytes: 0, gpuFreeBytes: 0 })).toBeNull();
    expect(refusal(live, wanted, { ...room, concurrentRuns: 1 })?.code).toBe('RUN_BUSY');
    expect(refusal(live, wanted, room)).toBeNull();
    const tight = refusal(live, wanted, { ...room, freeBytes: 2 * gib });
    expect(tight).toMatchObject({ code: 'NO_MEMORY_FOR_RUN', message: expect.stringContaining('2.0 GiB') });
  });

  it("refuses what the GPU's memory doesn't hold, however much the machine has", () => {
    expect(refusal(live, wanted, { ...room, gpuFreeBytes: 6 * gib })).toBeNull();
    expect(refusal(live, wanted, { ...room, gpuFreeBytes: 5 * gib })).toMatchObject({
      code: 'NO_MEMORY_FOR_RUN',
      message: 'Not enough GPU memory for another run next to old: 6.0 GiB needed, 5.0 GiB free',
    });
  });
});

describe('promisedBytes', () => {
  it('is what live runs have not taken yet, of either memory', () => {
    const expected = { host: 500, gpu: 4000 };
    expect(
      promisedBytes([
        { expected, memoryBytes: 200, gpuBytes: null },
        { expected, memoryBytes: 900, gpuBytes: 1000 },
      ]),
    ).toEqual({ host: 300, gpu: 7000 });
  });
});
