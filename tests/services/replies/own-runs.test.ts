import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replyData } from '../../../main/services/replies/data.ts';
import { phaseFiles } from '../../../main/services/replies/methods.ts';
import { runsOfData, runsOfSplit } from '../../../main/services/replies/own-runs.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { openTinyClient } from '../../api/transports.ts';
import { replyLines } from '../reply-lines.ts';

async function page() {
  const { client, app, world } = await openTinyClient();
  const [sft] = phaseFiles(app.workspace);
  const baseline = (dataset: string, eval_dataset = replyData(app).test) => {
    const { runId } = createRun(app.store, world.config({ dataset, eval_dataset }), { name: 'baseline/seed_1' });
    finishRun(app.store, runId, 'done');
    const run = app.store.runs.get(runId);
    if (run === undefined) throw new Error('Expected the run');
    return run;
  };
  return { client, app, sft, baseline };
}

describe('runsOfData', () => {
  it('leaves out runs that were evaluated on other posts: their methods are shown as not run', async () => {
    const { client, app, sft, baseline } = await page();
    const run = baseline(sft);
    expect(runsOfData(app)(run)).toBe(true);
    expect((await client.replies.desk()).methods[0]?.newest).toMatchObject({ runId: run.id });
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    expect(runsOfData(app)(run)).toBe(false);
    expect((await client.replies.desk()).methods[0]).toMatchObject({ newest: null, seeds: [] });
    // The files of the sample's split are still there.
    await expect(client.replies.start({ method: 'baseline', seed: 1 })).rejects.toMatchObject({
      data: { code: 'NO_SPLIT' },
    });
  });
});

describe('runsOfSplit', () => {
  it('are those since it was made, or on a file that is equal to it', async () => {
    const { client, app, sft, baseline } = await page();
    await client.replies.split({ ratio: 0.5, seed: 1 });
    const copy = join(app.workspace.root, 'copy.jsonl');
    copyFileSync(sft, copy);
    const runs = [baseline(sft), baseline(copy)];
    const ofSplit = () => runs.map(runsOfSplit(app, sft));
    expect(ofSplit()).toEqual([true, true]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await client.replies.split({ ratio: 0.5, seed: 1 });
    expect(ofSplit()).toEqual([true, true]);
    await client.replies.split({ ratio: 0.5, seed: 2 });
    expect(ofSplit()).toEqual([false, false]);
    writeFileSync(copy, 'other');
    expect(runsOfSplit(app, sft)(baseline(copy))).toBe(false);
  });
});
