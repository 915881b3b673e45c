import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { replyData } from '../../../main/services/replies/data.ts';
import { remember } from '../../../main/services/replies/memory.ts';
import { phaseFiles } from '../../../main/services/replies/methods.ts';
import { createRun, finishRun } from '../../../main/services/runs.ts';
import { contextOf, openTinyApp, overPorts } from '../../api/transports.ts';
import { tinyWords } from '../../tiny-model.ts';
import { until } from '../../until.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

function replyLines(count: number): string {
  const word = (i: number): string => tinyWords[i % 20] ?? '';
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      id: `r${i}`,
      post: `${word(i)} ${word(i * 3 + 1)} ${word(Math.floor(i / 20))}`,
      reply: `${word(i)} ${word(i + 1)}`,
      engagement: { likes: i, reposts: 0, replies: 0 },
    }),
  ).join('\n');
}

async function open() {
  const world = await tinyWorkspace();
  const app = openTinyApp(world);
  const { client } = await overPorts(contextOf(app));
  return { world, app, client };
}

function code(code: string) {
  return { data: expect.objectContaining({ code }) };
}

describe('the reply system over the contract', () => {
  it('begins with the bundled sample, unsplit, and nothing to compare', async () => {
    const { client } = await open();
    const desk = await client.replies.desk();
    expect(desk).toMatchObject({ data: { bundled: true, records: 480, heldOut: 64 }, split: null, trial: null });
    expect(desk.methods.map(({ newest, seeds }) => [newest, seeds])).toEqual(Array(4).fill([null, []]));
    expect(await client.replies.report()).toBeNull();
    await expect(client.replies.compare({ seed: 1 })).rejects.toMatchObject(code('TOO_FEW_MODELS'));
    await expect(client.replies.start({ method: 'baseline', seed: 1 })).rejects.toMatchObject(code('NO_SPLIT'));
    await expect(client.replies.reportFile({ file: '../braid.db' })).rejects.toMatchObject(code('FILE_UNKNOWN'));
  });

  it('takes records in with a tenth of the posts held out, splits them, and goes back to the sample', async () => {
    const { client, app } = await open();
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

  it('names the file, the line and the reason of every record that is wrong, and keeps what was there', async () => {
    const { client } = await open();
    const lines = `${replyLines(3)}\n{"id":"x","post":"alone"}\nno json`;
    const coming = client.replies.import({ name: 'bad.jsonl', content: new Blob([lines]) });
    await expect(coming).rejects.toMatchObject({
      message: expect.stringMatching(/bad\.jsonl, line 4: .*\n.*line 5: /s),
    });
    const binary = client.replies.import({ name: 'b.jsonl', content: new Blob([new Uint8Array([0xff, 0xfe])]) });
    await expect(binary).rejects.toMatchObject({ message: expect.stringContaining('UTF-16') });
    expect((await client.replies.desk()).data.bundled).toBe(true);
  });

  it('shows the newest run of a method, its seeds and their spread', async () => {
    const { client, app, world } = await open();
    for (const [seed, reward] of [
      [1, 0.4],
      [2, 0.6],
    ] as const) {
      const { runId } = createRun(app.store, world.config({ seed }), { name: `baseline/seed_${seed}` });
      app.store.metrics.record(runId, 1, { reward });
      finishRun(app.store, runId, 'done');
    }
    const baseline = (await client.replies.desk()).methods[0];
    expect(baseline).toMatchObject({ seeds: [1, 2], newest: { state: 'done', reward: 0.6 } });
    expect(baseline?.rewards).toMatchObject({ n: 2, mean: 0.5 });
  });

  it('makes the small-scale test a job whose cancelling stops the run in hand', async () => {
    const { client, app } = await open();
    const { jobId } = await client.replies.trial({ seed: 1 });
    await until(async () => app.live.list().length === 1);
    await client.app.cancelJob({ id: jobId });
    await until(async () => app.jobs.list().every(({ state }) => state !== 'running'));
    const [run] = app.store.runs.list({});
    expect(run).toMatchObject({ name: 'trial-sft', state: 'stopped' });
    expect((await client.replies.desk()).trial).toMatchObject({ go: false });
  }, 60_000);

  it('forgets a report whose folder is gone', async () => {
    const { client, app } = await open();
    remember(app.store, { report: { folder: 'outputs/nowhere', at: 1 } });
    expect(await client.replies.report()).toBeNull();
  });
});
