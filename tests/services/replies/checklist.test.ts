import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replyChecklist } from '../../../main/services/replies/checklist.ts';
import { phaseFiles } from '../../../main/services/replies/methods.ts';
import { readReplyState, remember } from '../../../main/services/replies/stored-state.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { openTinyClient } from '../../api/transports.ts';
import { replyLines } from '../reply-lines.ts';

async function open() {
  const { app, client } = await openTinyClient();
  const states = async () =>
    Object.fromEntries((await client.replies.checklist({ seed: 42 })).items.map(({ name, state }) => [name, state]));
  return { app, client, states };
}

const trial = {
  go: true,
  criteria: [],
  examples: 100,
  seconds: 9,
  runIds: [],
  samples: [],
  at: 1000,
};

describe('replyChecklist', () => {
  it('says what is there, what is open and what is missing, with a remedy for each', async () => {
    const { client, states } = await open();
    expect(await states()).toMatchObject({ records: 'done', held_out: 'done', split: 'failed', model: 'done' });
    expect(await states()).toMatchObject({
      warm_start: 'open',
      small_scale_test: 'open',
      time: 'open',
      reward: 'done',
    });
    await client.replies.split({ ratio: 0.5, seed: 1 });
    const split = { split: 'done', phases_disjoint: 'done', held_out_disjoint: 'done', quartiles: 'done' };
    expect(await states()).toMatchObject(split);
    const { items, ready } = await client.replies.checklist({ seed: 42 });
    expect(ready).toBe(false);
    for (const { name, state, next } of items) expect([name, state === 'done']).toEqual([name, next === null]);
  });

  it('rereads the files: a post that was added to both phases is found', async () => {
    const { app, client, states } = await open();
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    await client.replies.split({ ratio: 0.5, seed: 1 });
    for (const file of phaseFiles(app.workspace)) writeFileSync(file, replyLines(3));
    expect(await states()).toMatchObject({ phases_disjoint: 'failed' });
    writeFileSync(phaseFiles(app.workspace)[1], 'no json');
    expect(await states()).toMatchObject({ split: 'failed' });
  });

  it('finds what was trained on among the held-out posts', async () => {
    const { app, client, states } = await open();
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    await client.replies.split({ ratio: 0.5, seed: 1 });
    const { data } = readReplyState(app.store);
    writeFileSync(`${app.workspace.root}/${data?.test}`, replyLines(40));
    expect(await states()).toMatchObject({ held_out_disjoint: 'failed' });
  });

  it('finds what the chosen checkpoint was trained on among the held-out posts, after another import too', async () => {
    const { app, client, states } = await open();
    const dataset = join(app.workspace.root, 'earlier.jsonl');
    writeFileSync(dataset, replyLines(40));
    const { runId } = createRun(
      app.store,
      parseConfig({ task: 'reply', method: 'sft', model: 'tiny-reply', dataset }),
      {
        name: 'baseline/seed_42',
      },
    );
    const checkpoint = join(app.store.folder, 'outputs/earlier/checkpoint-1');
    mkdirSync(checkpoint, { recursive: true });
    const id = app.store.checkpoints.record(runId, 1, 'outputs/earlier/checkpoint-1', 'final');
    finishRun(app.store, runId, 'done');
    // Of itself no run on other records is started from.
    expect(await states()).toMatchObject({ warm_start: 'open' });
    await client.replies.choose({ start: `checkpoint:${id}` });
    expect(await states()).toMatchObject({ warm_start: 'done' });
    await client.replies.import({ name: 'mine.jsonl', content: new Blob([replyLines(40)]) });
    expect(await states()).toMatchObject({ warm_start: 'failed' });
  });

  it('stores confirmations; replies of a newer test are unread', async () => {
    const { app, client } = await open();
    const ticked = async () =>
      (await replyChecklist(app, 42)).ticks.flatMap(({ name, ticked: said }) => (said ? [name] : []));
    await client.replies.tick({ name: 'commitment', ticked: true });
    await client.replies.tick({ name: 'generations_read', ticked: true });
    // There was no test whose replies could have been read.
    expect(await ticked()).toEqual(['commitment']);
    remember(app.store, { trial });
    expect(await ticked()).toEqual(['generations_read', 'commitment']);
    remember(app.store, { trial: { ...trial, at: Date.now() + 60_000 } });
    expect(await ticked()).toEqual(['commitment']);
    await client.replies.tick({ name: 'commitment', ticked: false });
    expect(await ticked()).toEqual([]);
  });
});
