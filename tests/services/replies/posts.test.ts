import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { postReplies } from '../../../main/services/replies/posts.ts';
import { replyReport } from '../../../main/services/replies/report.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { replyLines } from '../reply-lines.ts';
import { makeReport } from './make-report.ts';

const { resources } = checkoutPaths(resolve(import.meta.dirname, '../../..'));

async function open() {
  const root = temporaryFolder();
  const workspace = openWorkspace({ workspace: root });
  const store = temporaryStore(root);
  const dataset = join(root, 'test.jsonl');
  writeFileSync(dataset, replyLines(24));
  return { app: { store, workspace }, dataset };
}

describe('postReplies', () => {
  it('gives all models’ replies to a post in their order, with the human’s, and finds posts', async () => {
    const { app, dataset } = await open();
    expect(postReplies(app, {})).toBeNull();
    const folder = await makeReport(app.store, { resources, dataset });
    const page = postReplies(app, { at: 3 });
    // The post and the human's reply of the records, not the prompt around them.
    const record = JSON.parse(readFileSync(dataset, 'utf8').split('\n')[3] ?? '');
    const post = { id: 'r3', text: record.post, human: record.reply };
    expect(page).toMatchObject({ total: 24, found: 24, at: 3, post });
    expect(page?.post?.models.map(({ model, replies }) => [model, replies[0]])).toEqual(
      ['baseline', 'polychromic', 'grpo_from_baseline', 'polychromic_grpo'].map((model) => [
        model,
        `reply 0 of ${model} to post 3`,
      ]),
    );
    expect(page?.post?.models[0]?.measures.reward).toBeCloseTo(0.5, 1);
    expect(postReplies(app, { search: 'GRPO to post 11', at: 9 })).toMatchObject({
      found: 1,
      at: 0,
      post: { id: 'r11' },
    });
    expect(postReplies(app, { search: 'nothing like it' })).toMatchObject({ total: 24, found: 0, post: null });
    // A damaged line hides its own replies only.
    writeFileSync(
      join(folder, 'completions.jsonl'),
      '{"model":"baseline","id":"a","prompt":"p","completions":[],"measures":{}}\n{',
    );
    expect(postReplies(app, {})).toMatchObject({ total: 1, post: { text: 'p', human: null } });
  });
});

describe('replyReport', () => {
  it('has the data of its figures for charts', async () => {
    const { app, dataset } = await open();
    await makeReport(app.store, { resources, dataset });
    const charts = replyReport(app)?.charts ?? [];
    expect(charts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['pass_at_k', 'training_reward', 'training_kl', 'training_loss', 'lora_norms']),
    );
    const kl = charts.find(({ name }) => name === 'training_kl');
    expect(kl?.head).toEqual(['model', 'step', 'kl', 'low', 'high']);
    expect(kl?.rows[1]).toEqual(['baseline', 2, 0.002, null, null]);
  });
});
