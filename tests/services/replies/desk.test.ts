import { existsSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { replyData } from '../../../main/services/replies/data.ts';
import { keepSplit } from '../../../main/services/replies/keep-split.ts';
import { phaseFiles } from '../../../main/services/replies/methods.ts';
import { remember } from '../../../main/services/replies/stored-state.ts';
import { startTrial } from '../../../main/services/replies/work.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { openTinyClient } from '../../api/transports.ts';
import { until } from '../../until.ts';
import { replyLines } from '../reply-lines.ts';

function code(code: string) {
  return { data: expect.objectContaining({ code }) };
}

describe('the reply system over the contract', () => {
  it('starts with the bundled sample, unsplit, and nothing to compare', async () => {
    const { client } = await openTinyClient();
    const desk = await client.replies.desk();
    expect(desk).toMatchObject({ data: { bundled: true, records: 480, heldOut: 64 }, split: null, trial: null });
    expect(desk.methods.map(({ newest, seeds }) => [newest, seeds])).toEqual(Array(4).fill([null, []]));
    expect(await client.replies.report()).toBeNull();
    await expect(client.replies.compare({ seed: 1 })).rejects.toMatchObject(code('TOO_FEW_MODELS'));
    await expect(client.replies.start({ method: 'baseline', seed: 1 })).rejects.toMatchObject(code('NO_SPLIT'));
    await expect(client.replies.reportFile({ file: '../braid.db' })).rejects.toMatchObject(code('FILE_UNKNOWN'));
  });

  it('imports records with a tenth of the posts held out, splits them, and returns to the sample', async () => {
    const { client, app } = await openTinyClient();
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    const { data } = await client.replies.desk();
    expect(data).toMatchObject({ name: 'mine', bundled: false });
    expect(data.records + data.heldOut).toBe(40);
    expect(data.heldOut).toBeGreaterThan(0);

    await client.replies.split({ ratio: 0.5, seed: 3 });
    const { split } = await client.replies.desk();
    expect(split).toMatchObject({ ratio: 0.5, seed: 3, before: { records: data.records } });
    expect(split?.checks.find(({ name }) => name === 'posts_disjoint')?.ok).toBe(true);
    expect(phaseFiles(app.workspace).every((file) => existsSync(file))).toBe(true);
    expect(readFileSync(replyData(app).test, 'utf8')).toContain('"engagement"');
    await expect(client.replies.start({ method: 'grpo_from_baseline', seed: 1 })).rejects.toMatchObject(
      code('NO_BASELINE'),
    );

    await client.replies.takeSample();
    expect(await client.replies.desk()).toMatchObject({ data: { bundled: true }, split: null });
  });

  it('finds the split of a run from the command line, which leaves records and splits of the person alone', async () => {
    const { client, app } = await openTinyClient();
    const [sft = '', grpo = ''] = phaseFiles(app.workspace);
    keepSplit(app, { ratio: 0.5, seed: 7 });
    const { split } = await client.replies.desk();
    expect(split).toMatchObject({ ratio: 0.5, seed: 7, before: { records: 480 } });
    const kept = [sft, grpo].map((file) => readFileSync(file, 'utf8'));
    // The same as the app's own.
    await client.replies.split({ ratio: 0.5, seed: 7 });
    expect([sft, grpo].map((file) => readFileSync(file, 'utf8'))).toEqual(kept);
    expect((await client.replies.desk()).split).toEqual({ ...split, at: expect.any(Number) });
    await client.replies.split({ ratio: 0.7, seed: 1 });
    keepSplit(app, { ratio: 0.5, seed: 7 });
    expect((await client.replies.desk()).split).toMatchObject({ ratio: 0.7, seed: 1 });
    for (const file of [sft, grpo]) rmSync(file);
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    keepSplit(app, { ratio: 0.5, seed: 7 });
    expect(existsSync(sft)).toBe(false);
  });

  it('names the file, the line and the reason of every record that is wrong, and keeps what was there', async () => {
    const { client } = await openTinyClient();
    const lines = `${replyLines(3)}\n{"id":"x","post":"alone"}\nno json`;
    const coming = client.replies.import({ name: 'bad.jsonl', content: new Blob([lines]) });
    await expect(coming).rejects.toMatchObject({
      message: expect.stringMatching(/bad\.jsonl, line 4: .*\n.*line 5: /s),
    });
    const binary = client.replies.import({ name: 'b.jsonl', content: new Blob([new Uint8Array([0xff, 0xfe])]) });
    await expect(binary).rejects.toMatchObject({ message: expect.stringContaining('UTF-16') });
    expect((await client.replies.desk()).data.bundled).toBe(true);
  });

  it('takes a file whose name is as long as names may be', async () => {
    const { client } = await openTinyClient();
    for (const letter of ['x', 'ä', '語', '𒀀']) {
      const name = `${letter.repeat(490 / letter.length)}.jsonl`;
      await client.replies.import({ name, content: new Blob([replyLines(40)]) });
      expect((await client.replies.desk()).data.name).toBe(letter.repeat(40));
    }
  });

  it('shows the newest run of a method, its seeds and their spread', async () => {
    const { client, app, world } = await openTinyClient();
    for (const [seed, reward] of [
      [1, 0.4],
      [2, 0.6],
    ] as const) {
      const config = world.config({ seed, eval_dataset: replyData(app).test });
      const { runId } = createRun(app.store, config, { name: `baseline/seed_${seed}` });
      app.store.metrics.record(runId, 1, { reward });
      finishRun(app.store, runId, 'done');
    }
    const baseline = (await client.replies.desk()).methods[0];
    expect(baseline).toMatchObject({ seeds: [1, 2], newest: { state: 'done', reward: 0.6 } });
    expect(baseline?.rewards).toMatchObject({ n: 2, mean: 0.5 });
    for (const { id } of app.store.runs.list()) await client.runs.rename({ runId: id, name: `mine ${id}` });
    expect((await client.replies.desk()).methods[0]).toEqual(baseline);
  });

  it('runs the small-scale test as a job; cancelling it stops the current run', async () => {
    const { client, app } = await openTinyClient();
    const { jobId } = await client.replies.trial({ seed: 1 });
    await until(async () => app.live.list().length === 1);
    await client.app.cancelJob({ id: jobId });
    await until(async () => app.jobs.list().every(({ state }) => state !== 'running'));
    const [run] = app.store.runs.list({});
    expect(run).toMatchObject({ name: 'trial-sft', state: 'stopped' });
    expect((await client.replies.desk()).trial).toMatchObject({ go: false });
  }, 60_000);

  it('forgets a report whose folder is gone', async () => {
    const { client, app } = await openTinyClient();
    remember(app.store, { report: { folder: 'outputs/nowhere', at: 1 } });
    expect(await client.replies.report()).toBeNull();
  });

  it('says on the screen that a quartile is empty', async () => {
    const { client } = await openTinyClient();
    const equal = replyLines(40).replace(/"likes":\d+/g, '"likes":3');
    await client.replies.import({ name: 'equal.jsonl', content: new Blob([equal]) });
    await client.replies.split({ ratio: 0.5, seed: 1 });
    const { split } = await client.replies.desk();
    expect(split?.checks.find(({ name }) => name === 'quartiles_filled')).toMatchObject({
      ok: false,
      detail: 'quartiles 2, 3 and 4 are empty: too many replies have the same engagement',
    });
  });

  it('reports a stopped run instead of a comparison, and one that ended immediately', async () => {
    const { client, app } = await openTinyClient();
    const stopped = await client.replies.whole({ seed: 1 });
    await until(async () => app.live.list().some(({ step }) => step > 0));
    app.live.command(app.live.list()[0]?.runId ?? 0, 'stop');
    const jobOf = (id: number) => app.jobs.list().find((job) => job.id === id);
    await until(async () => jobOf(stopped.jobId)?.state === 'failed');
    expect(jobOf(stopped.jobId)?.error).toMatchObject({
      message: 'A run was stopped early, so there is no comparison',
      remedy: expect.stringContaining('kept in the history'),
    });
    expect(await client.replies.report()).toBeNull();

    const live = { ...app.live, start: () => 7, outcome: () => null };
    const id = startTrial({ ...app, live }, 1);
    await until(async () => jobOf(id)?.state === 'failed');
    expect(jobOf(id)?.error).toMatchObject({
      message: 'trial-sft ended immediately',
      remedy: expect.stringContaining('run 7'),
    });
  }, 180_000);
});
