import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAT_SETTINGS } from '../../../main/model/chat-settings.ts';
import { readModelConfig } from '../../../main/model/config.ts';
import { loadTokenizer } from '../../../main/model/tokenizer.ts';
import { savedConfig } from '../../../main/services/runs/saved-config.ts';
import { startTraining } from '../../../main/services/training/training.ts';
import { parseReplyRecord } from '../../../main/tasks/reply/record.ts';
import { replyTask } from '../../../main/tasks/reply/task.ts';
import { encodeRecords } from '../../../main/trainer/batching/prompts.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

const LIKED = { likes: 1, reposts: 0, replies: 0 };
const chat = { system_prompt: 'wa wb', chat_template_kwargs: { loud: true } };

describe('chat settings', () => {
  it('go with the checkpoint to the next stage, and change what the model is given', async () => {
    const { store, paths, model, config } = await tinyWorkspace();
    const template = '{% for m in messages %}{{ m.content }} {% endfor %}{% if loud %}wc{% endif %}';
    writeFileSync(join(model, 'chat_template.jinja'), template);
    const plain = await startTraining(store, config({ max_steps: 1 }), { paths }).outcome;
    const first = await startTraining(store, config({ max_steps: 1, ...chat }), { paths }).outcome;
    expect(first.state).toBe('done');
    const checkpoint = first.checkpoint ?? '';
    expect(JSON.parse(readFileSync(join(checkpoint, CHAT_SETTINGS), 'utf8'))).toEqual(chat);
    const tokenizer = loadTokenizer(checkpoint);
    expect(tokenizer.chat([{ role: 'user', content: 'wd' }])).toBe('wa wb wd wc');
    const said = parseReplyRecord({ id: 'a', prompt: 'wd', post: 'wd', reply: 'wc', engagement: LIKED });
    const [encoded] = encodeRecords(replyTask, tokenizer, [said], readModelConfig(model));
    expect(encoded?.asked).toMatchObject([{ content: 'wa wb' }, { role: 'user', content: 'wd' }]);
    const rewards = [plain, first].map(({ runId }) => store.metrics.seriesOf(runId, ['reward', 'entropy']));
    expect(rewards[0]).not.toEqual(rewards[1]);

    const next = await startTraining(store, config({ max_steps: 1, from_checkpoint: checkpoint }), { paths }).outcome;
    const saved = store.runs.get(next.runId);
    expect(saved && savedConfig(saved)).toMatchObject(chat);
    expect(JSON.parse(readFileSync(join(next.checkpoint ?? '', CHAT_SETTINGS), 'utf8'))).toEqual(chat);

    const fields = { max_steps: 1, from_checkpoint: checkpoint, system_prompt: '' };
    const without = await startTraining(store, config(fields), { paths }).outcome;
    const settings = JSON.parse(readFileSync(join(without.checkpoint ?? '', CHAT_SETTINGS), 'utf8'));
    expect(settings).toEqual({ ...chat, system_prompt: null });
  });

  it('put another prompt around posts, in training, evaluation and the next stage; a record keeps its own', async () => {
    const { store, paths, model, root, config } = await tinyWorkspace();
    const post = { id: 'a', post: 'wa wb', reply: 'wc', engagement: LIKED };
    const dataset = join(root, 'posts.jsonl');
    const records = [post, { ...post, id: 'b', prompt: 'we wf' }];
    writeFileSync(dataset, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const reply_prompt = 'wd {post} we';
    const stage = config({ ...{ task: 'reply', dataset, model, reply_prompt, max_steps: 1, method: 'sft' } });
    const first = await startTraining(store, stage, { paths }).outcome;
    const checkpoint = first.checkpoint ?? '';
    expect(JSON.parse(readFileSync(join(checkpoint, CHAT_SETTINGS), 'utf8'))).toMatchObject({ reply_prompt });
    const tokenizer = loadTokenizer(checkpoint);
    const encoded = encodeRecords(replyTask, tokenizer, records.map(parseReplyRecord), readModelConfig(model));
    expect(encoded.map(({ record }) => record.prompt)).toEqual(['wd wa wb we', 'we wf']);
    expect(encoded[0]?.promptIds).toEqual(tokenizer.encode('wd wa wb we'));
    const next = await startTraining(store, config({ ...stage, reply_prompt: null, from_checkpoint: checkpoint }), {
      paths,
    }).outcome;
    const saved = store.runs.get(next.runId);
    expect(saved && savedConfig(saved)).toMatchObject({ reply_prompt });
    expect(() => parseConfig({ reply_prompt: 'no place for it' })).toThrow('a text with {post} in it');
  });

  it('are refused for a model without a chat template', async () => {
    const { store, paths, config } = await tinyWorkspace();
    const { kept, error } = await startTraining(store, config({ max_steps: 1, ...chat }), { paths }).outcome;
    expect(kept).toBe(false);
    expect(error).toMatchObject({ code: 'NO_CHAT_TEMPLATE', kind: 'input' });
  });
});
