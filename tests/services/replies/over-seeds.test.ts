import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replyData } from '../../../main/services/replies/data.ts';
import { readReplyState, remember } from '../../../main/services/replies/stored-state.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { toStoredPath } from '../../../main/services/workspace/workspace.ts';
import { openTinyClient } from '../../api/transports.ts';
import { until } from '../../until.ts';
import { replyLines } from '../reply-lines.ts';

const methods = ['baseline', 'polychromic', 'grpo_from_baseline', 'polychromic_grpo'];

/** Writes what of a report is read: the means of reward and Self-BLEU by method; returns where. */
function writeReport(root: string, seed: number, rewards: readonly number[]) {
  const folder = join(root, 'outputs', `replies-seed${seed}`);
  const row = (name: string, better: string, of: (reward: number) => number) => ({
    name,
    label: name,
    better,
    means: rewards.map((reward, i) => ({ model: methods[i], mean: of(reward) })),
  });
  const rows = [row('reward', 'higher', (reward) => reward), row('self_bleu', 'lower', (reward) => 1 - reward)];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'comparison.json'), JSON.stringify({ models: methods.map((name) => ({ name })), rows }));
  return { seed, folder: toStoredPath(root, folder) };
}

describe('the methods over seeds', () => {
  it('has mean and interval over the reports of the seeds, and a winner only where they agree on one', async () => {
    const { app, client } = await openTinyClient();
    const { root } = app.workspace;
    expect(await client.replies.overSeeds()).toBeNull();
    const close = [0.48, 0.5, 0.52].map((baseline, i) => writeReport(root, i, [baseline, 0.4, 0.8, 0.7 + i / 10]));
    remember(app.store, { seedReports: { reports: close, at: 5 } });
    const table = await client.replies.overSeeds();
    expect(table).toMatchObject({ seeds: [0, 1, 2], at: 5, models: methods });
    const baseline = table?.rows[0]?.models[0];
    // Standard deviation 0.02 and t(2) = 4.3027: half the interval is 4.3027 · 0.02 / √3.
    expect(baseline).toMatchObject({ n: 3, mean: expect.closeTo(0.5) });
    expect((baseline?.interval?.high ?? 0) - (baseline?.mean ?? 0)).toBeCloseTo(0.04968, 5);
    // Polychromic GRPO has the same mean as GRPO.
    expect(table?.rows.map(({ winner }) => winner)).toEqual([null, null]);

    const clear = [0.48, 0.5, 0.52].map((baseline, i) => writeReport(root, i, [baseline, 0.4, 0.8, 0.7 + i / 100]));
    remember(app.store, { seedReports: { reports: clear, at: 6 } });
    const winners = (await client.replies.overSeeds())?.rows.map(({ winner }) => winner);
    expect(winners).toEqual(['grpo_from_baseline', 'grpo_from_baseline']);
    remember(app.store, { seedReports: { reports: clear.slice(0, 1), at: 7 } });
    expect(await client.replies.overSeeds()).toBeNull();
  });

  it('compares only seeds with a finished run of every method', async () => {
    const { app, client, world } = await openTinyClient();
    for (const method of methods)
      for (const seed of [1, 2, 3]) {
        const { runId } = createRun(app.store, world.config({ seed, eval_dataset: replyData(app).test }), {
          name: `${method}/seed_${seed}`,
        });
        const failed = (method === 'polychromic' && seed === 2) || (method === 'baseline' && seed === 3);
        finishRun(app.store, runId, failed ? 'failed' : 'done');
      }
    expect((await client.replies.desk()).wholeSeeds).toEqual([1]);
    await expect(client.replies.compareSeeds()).rejects.toMatchObject({ data: { code: 'TOO_FEW_SEEDS' } });
  });

  it("keeps a seed's report although the newest runs are compared with that seed later", async () => {
    const { app, client, world } = await openTinyClient();
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(20)]) });
    for (const method of methods)
      for (const seed of [1, 2]) {
        const { runId } = createRun(app.store, world.config({ seed, eval_dataset: replyData(app).test }), {
          name: `${method}/seed_${seed}`,
        });
        app.store.checkpoints.record(runId, 4, join(app.paths.resources, 'models', 'tiny-reply'), 'final');
        finishRun(app.store, runId, 'done');
      }
    const over = async (): Promise<void> => {
      await until(() => app.jobs.list().every(({ state }) => state !== 'running'));
    };
    await client.replies.compareSeeds();
    await over();
    const { seedReports } = readReplyState(app.store);
    expect(seedReports?.reports.map(({ seed }) => seed)).toEqual([1, 2]);
    // It compares the newest run of each method, which has seed 2.
    await client.replies.compare({ seed: 1 });
    await over();
    const folders = seedReports?.reports.map(({ folder }) => folder);
    expect(folders).not.toContain(readReplyState(app.store).report?.folder);
    expect(await client.replies.overSeeds()).toMatchObject({ seeds: [1, 2] });
  }, 60_000);
});
