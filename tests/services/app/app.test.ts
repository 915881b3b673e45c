import { copyFileSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openApp } from '../../../main/services/app/app.ts';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { forkTrainer } from '../../../main/services/trainer-process/channel.ts';
import { runTrainerJob } from '../../../main/services/trainer-process/job.ts';
import { identityOf } from '../../../main/services/workspace/host.ts';
import { openTinyApp } from '../../api/transports.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyConfig } from '../../trainer/run/tiny-run.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

describe('openApp', () => {
  it('says once that its database was replaced, stores nothing more, and lives', async () => {
    const app = openTinyApp(await tinyWorkspace());
    const { database, root } = app.workspace;
    renameSync(database, join(root, 'moved.db'));
    copyFileSync(join(root, 'moved.db'), database);
    await expect.poll(() => app.notices.list(), { timeout: 15_000 }).toHaveLength(1);
    expect(app.notices.list()[0]).toMatchObject({
      severity: 'error',
      message: expect.stringContaining('was replaced'),
    });
    expect(errorOf(() => app.store.transaction(() => 1))).toMatchObject({ code: 'DATABASE_GONE' });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(app.notices.list()).toHaveLength(1);
    renameSync(join(root, 'moved.db'), database);
    expect(app.store.transaction(() => 1)).toBe(1);
  });

  it('deletes what an export and a deleted run left behind when their process was killed', async () => {
    const world = await tinyWorkspace();
    const [models, outputs] = [join(world.root, 'models'), join(world.root, 'outputs')];
    const left = [join(models, `.mine.${2 ** 30}-1.tmp`), join(outputs, `.run-0001-a.${process.pid}-9000.tmp`)];
    const lastWeek = new Date(Date.now() - 7 * 24 * 3_600_000);
    for (const folder of left) {
      mkdirSync(join(folder, 'weights'), { recursive: true });
      utimesSync(folder, lastWeek, lastWeek);
    }
    openTinyApp(world);
    await expect.poll(() => [...readdirSync(models), ...readdirSync(outputs)]).toEqual(['tiny-test']);
  });

  it('starts nothing of a workspace that comes from elsewhere, until the person continues its queue', async () => {
    const world = await tinyWorkspace();
    const { store, root, paths, dataset, model } = world;
    const row = { file: dataset, task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3 } as const;
    const datasetId = store.datasets.record({ ...row, name: '2words', template: null, textHash: null });
    const { max_steps: _, ...config } = { ...tinyConfig, model };
    const stageId = addStage(store, { datasetId, steps: 2, promotion: null, config });
    store.stages.setState(stageId, 'queued');
    const mine = join(temporaryFolder(), 'config', 'workspace-key');
    const open = (keyFile: string) => openApp({ workspace: root, paths, what: 'a test', keyFile });
    const first = open(mine);
    expect([first.live.list(), first.queue.held()]).toEqual([[], expect.stringContaining('opened here before')]);
    await first.close();
    if (process.platform !== 'win32') expect(statSync(mine).mode & 0o777).toBe(0o600);
    // Released here once, it needs no second word, not even after a restart; another user has to say it.
    store.settings.remove('queue_hold');
    const other = open(join(temporaryFolder(), 'workspace-key'));
    expect([other.live.list(), other.queue.held()]).toEqual([[], expect.stringContaining('opened here before')]);
    await other.close();
    store.settings.remove('queue_hold');
    const back = open(mine);
    expect(back.queue.held()).toContain('opened here before');
    back.queue.release();
    expect(back.live.list()).toMatchObject([{ stageId }]);
    await back.close();
    store.settings.remove('queue_hold');
    store.stages.setState(stageId, 'queued');
    const again = open(mine);
    onTestFinished(() => again.close(), 60_000);
    expect([again.live.list().length, again.queue.held()]).toEqual([1, null]);
  });

  it('notifies the page of a run in another process that it has ended', async () => {
    const world = await tinyWorkspace();
    const { runId } = createRun(world.store, world.config());
    const app = openTinyApp(world);
    const heard: unknown[] = [];
    app.changes.listen((change) => heard.push(change));
    finishRun(world.store, runId, 'done');
    await expect.poll(() => heard, { timeout: 15_000 }).toContainEqual({ topic: 'run', id: runId });
  });

  it('marks a run as interrupted whose command was killed while the app is open', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const killed = { pid: 999_999_999, hostId: identityOf(process.pid) };
    const { runId } = createRun(world.store, world.config(), { host: killed });
    await expect.poll(() => app.store.runs.get(runId)?.state, { timeout: 15_000 }).toBe('interrupted');
  });

  it('warns once of a backend that jobs compute on although it is slow', async () => {
    const { paths, root } = await tinyWorkspace();
    const entry = join(temporaryFolder(), 'trainer.mjs');
    const ready = `{ kind: 'ready', backend: 'webgpu', threads: 1, why: '', warning: 'it is a software adapter' }`;
    writeFileSync(
      entry,
      `process.on('message', () => process.send([${ready}, { kind: 'result', value: {} }], () => process.disconnect()));`,
    );
    const app = openTinyApp({ root, paths: { ...paths, trainer: forkTrainer(entry) } });
    const job = { kind: 'self-check', backend: 'webgpu', threads: 1, kernelsFile: paths.kernels } as const;
    await Promise.all([runTrainerJob(job, app.paths.trainer), runTrainerJob(job, app.paths.trainer)]);
    expect(app.notices.list()).toMatchObject([{ severity: 'warning', message: 'it is a software adapter' }]);
  });

  it('says that the history starts again where a database is missing beside runs', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'outputs', 'run-0001-10words-grpo'), { recursive: true });
    const { paths } = await tinyWorkspace();
    expect(openTinyApp({ root, paths }).notices.list()).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('contains a run of an earlier history') },
    ]);
  });
});
