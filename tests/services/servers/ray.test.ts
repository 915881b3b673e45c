import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setClusterToken } from '../../../main/services/engines/keys.ts';
import { listZip } from '../../../main/services/native-setup/zip.ts';
import { ENDED_IDLE } from '../../../main/services/servers/kind.ts';
import { IDLE_CODE, quoted, whileUsed } from '../../../main/services/servers/shell.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { answerOn, engineWith, freePort, openDesk } from './desk.ts';
import { openRayDouble, type RayDouble } from './ray-double.ts';

async function world(options: Parameters<typeof openRayDouble>[0] = {}, more: object = {}) {
  const ray = await openRayDouble(options);
  const port = await freePort();
  const launcher = { kind: 'ray', dashboard: ray.url, entrypoint: "python 's.py'", ...more } as const;
  return { ray, port, desk: openDesk(), engine: engineWith(`http://127.0.0.1:${port}`, launcher) };
}

function onlyJob({ jobs }: RayDouble) {
  const [entry] = [...jobs];
  if (entry === undefined || jobs.size !== 1) throw new Error(`Expected one job, got ${jobs.size}`);
  return { id: entry[0], job: entry[1] };
}

describe('a Ray job', () => {
  it('is submitted with its folder, packages, variables and longest time, and followed until it answers', async () => {
    const folder = join(temporaryFolder(), 'work');
    mkdirSync(join(folder, 'sub', '__pycache__'), { recursive: true });
    for (const file of ['s.py', 'sub/a.py', 'sub/__pycache__/a.pyc']) writeFileSync(join(folder, file), file);
    const more = { workingDir: folder, pip: ['torch==2'], env: { A: '1' }, gpus: 1, maxHours: 2 };
    const { ray, port, desk, engine } = await world({}, more);
    expect(await desk.servers.up(engine)).toMatchObject({ state: 'starting', mayBeUp: true });
    const { id, job } = onlyJob(ray);
    const [name = '', zip] = [...ray.packages][0] ?? [];
    expect(job.submitted).toEqual({
      submission_id: id,
      entrypoint: `exec timeout --kill-after=30 7200 sh -c ${quoted(whileUsed("python 's.py'", 1800, port))}`,
      entrypoint_num_gpus: 1,
      runtime_env: { working_dir: `gcs://${name}`, pip: ['torch==2'], env_vars: { A: '1' } },
      metadata: { braid_engine: 'cluster' },
    });
    const archive = join(temporaryFolder(), 'a.zip');
    writeFileSync(archive, zip ?? '');
    expect((await listZip(archive)).map((entry) => entry.name)).toEqual(['s.py', 'sub/a.py']);

    expect(await desk.servers.status('cluster')).toMatchObject({ detail: expect.stringMatching(/waits .* nothing/) });
    job.status = 'RUNNING';
    job.logs = 'loading\n';
    expect((await desk.servers.status('cluster'))?.detail).toMatch(/job runs; nothing answers at .* yet/);
    const close = await answerOn(port);
    expect(await desk.servers.status('cluster')).toMatchObject({ state: 'up', endedAt: null });
    expect(await desk.servers.log('cluster')).toBe('loading\n');
    await close();
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'starting',
      detail: expect.stringMatching(/any more/),
    });
    expect(await desk.servers.down('cluster')).toMatchObject({ state: 'stopped', mayBeUp: false });
    expect(job.status).toBe('STOPPED');
    // The same folder is uploaded once.
    await desk.servers.up(engine);
    expect(ray.asked.filter((one) => one.startsWith('PUT'))).toHaveLength(1);
  });

  it('that ended itself, since nothing had used it, is no failure', async () => {
    const { ray, desk, engine } = await world();
    expect(await desk.servers.up(engine)).toMatchObject({ endsIdle: true });
    Object.assign(onlyJob(ray).job, { status: 'FAILED', driver_exit_code: IDLE_CODE, message: 'exit code 79' });
    expect(await desk.servers.status('cluster')).toMatchObject({ state: 'stopped', detail: ENDED_IDLE });
  });

  it('that fails says why; one that nobody knows after a restart of the head is gone', async () => {
    const { ray, desk, engine } = await world();
    await desk.servers.up(engine);
    Object.assign(onlyJob(ray).job, {
      status: 'FAILED',
      driver_exit_code: 3,
      message: 'Job entrypoint command failed with exit code 3, last available logs (truncated):\nBoom',
    });
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'failed',
      detail: 'Job entrypoint command failed with exit code 3',
    });
    ray.jobs.clear();
    await desk.servers.up(engine);
    ray.restart();
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'gone',
      detail: expect.stringMatching(/head was restarted/),
    });
    // It can be started again.
    expect((await desk.servers.up(engine)).state).toBe('starting');
  });

  it('whose dashboard is away may still run: it stays in the list until it can be asked, or is given up', async () => {
    const { ray, desk, engine } = await world();
    await desk.servers.up(engine);
    await ray.close();
    expect(await desk.servers.status('cluster')).toMatchObject({
      state: 'unknown',
      mayBeUp: true,
      detail: expect.stringMatching(/may still run/),
    });
    await expect(desk.servers.down('cluster')).rejects.toMatchObject({ code: 'RAY_UNREACHABLE' });
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'SERVER_IS_UP' });
    expect(desk.again().list()).toMatchObject([{ engine: 'cluster', state: 'unknown' }]);
    expect(desk.servers.forget('cluster')).toMatchObject({ state: 'gone', mayBeUp: false });
    expect(() => desk.servers.forget('cluster')).toThrow(/can be asked: it is gone/);
  });

  it('is not lost with the answer to its submission', async () => {
    const { ray, desk, engine } = await world();
    ray.breakAfter('/api/jobs/');
    expect(await desk.servers.up(engine)).toMatchObject({ state: 'starting', mayBeUp: true });
    expect(ray.jobs.size).toBe(1);
  });

  it('never starts where the cluster is away or refuses', async () => {
    const away = await world();
    await away.ray.close();
    await expect(away.desk.servers.up(away.engine)).rejects.toMatchObject({ code: 'RAY_UNREACHABLE' });
    expect(away.desk.servers.list()).toMatchObject([{ state: 'failed', mayBeUp: false }]);
    const { desk, engine } = await world({}, { workingDir: '/no/such/folder' });
    await expect(desk.servers.up(engine)).rejects.toThrow(/expected a folder to upload/);
    expect(desk.servers.list()).toMatchObject([{ state: 'failed', mayBeUp: false }]);
  });

  it('is asked with the token of its cluster, which no record contains', async () => {
    const { ray, desk, engine } = await world({ token: 's3cret' });
    await expect(desk.servers.up(engine)).rejects.toMatchObject({ code: 'RAY_TOKEN_REFUSED' });
    setClusterToken(desk.secrets, engine, 's3cret');
    await desk.servers.up(engine);
    expect(ray.jobs.size).toBe(1);
    expect(JSON.stringify(desk.records.list())).not.toContain('s3cret');
  });

  it('that nobody uses is stopped after its idle time since its first answer, and not before', async () => {
    const { ray, port, desk, engine } = await world({}, { idleMinutes: 5 });
    await desk.servers.up(engine);
    const lookAfter = (minutes: number) => desk.again(() => Date.now() + minutes * 60_000).refresh();
    // A large model is still loading.
    expect(await lookAfter(40)).toEqual([]);
    await answerOn(port);
    expect(await lookAfter(60)).toMatchObject([{ state: 'up' }]);
    expect(await lookAfter(64)).toEqual([]);
    expect(await lookAfter(66)).toMatchObject([
      { state: 'stopped', detail: expect.stringMatching(/nothing had used it for 5 min/) },
    ]);
    expect(onlyJob(ray).job.status).toBe('STOPPED');
  });

  it('that waits for long says that this is odd', async () => {
    const { desk, engine } = await world();
    await desk.servers.up(engine);
    const record = desk.records.read('cluster');
    if (record === null) throw new Error('Expected a record');
    desk.records.write({ ...record, startedAt: Date.now() - 11 * 60_000 });
    expect((await desk.servers.status('cluster'))?.detail).toMatch(/has waited for 11 minutes/);
  });
});
