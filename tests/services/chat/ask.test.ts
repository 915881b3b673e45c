import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CHAT_SETTINGS } from '../../../main/model/chat-settings.ts';
import { askModel, type ChatRequest } from '../../../main/services/chat/ask.ts';
import { openLoadedModels } from '../../../main/services/chat/loaded-models.ts';
import type { AnswerEnd, ChatToken } from '../../../main/services/chat/news.ts';
import type { KeptModel } from '../../../main/services/serving/kept-model.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { withoutSystem } from '../../../main/trainer/policy/model-parts.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

async function place() {
  const { root, store, paths, model } = await tinyWorkspace();
  const chatModels = openLoadedModels<KeptModel>(() => 60_000);
  onTestFinished(() => chatModels.close());
  const app = { store, paths, workspace: { models: join(root, 'models') }, jobs: openJobs(openChanges()), chatModels };
  const request: ChatRequest = {
    model: 'workspace:tiny-test',
    beside: [],
    messages: [{ role: 'user', content: 'red blue' }],
    sampling: {
      temperature: 0,
      topP: 1,
      topK: 0,
      minP: 0,
      repetitionPenalty: 1,
      seed: 1,
      maxTokens: 8,
      stop: [],
    },
  };
  return { app, request, model };
}

async function heard(stream: ReturnType<typeof askModel>) {
  const tokens: ChatToken[] = [];
  const waits: string[] = [];
  let end: AnswerEnd | null = null;
  for await (const news of stream) {
    if (news.kind === 'tokens') tokens.push(...news.tokens);
    if (news.kind === 'waiting') waits.push(news.why);
    if (news.kind === 'end') end = news.end;
  }
  return { tokens, waits, end, text: tokens.map(({ text }) => text).join('') };
}

describe('askModel', () => {
  it('streams an answer with each token’s probability and alternatives; the model stays for the next', async () => {
    const { app, request } = await place();
    const first = await heard(askModel(app, request));
    expect(first.waits).toEqual(['Loading the model …', 'Reading the conversation …']);
    expect(first.end).toMatchObject({ tokens: first.tokens.length, askedAs: null });
    expect(first.tokens.length).toBeGreaterThan(0);
    for (const { logprob, top } of first.tokens) {
      expect(top).toHaveLength(5);
      // Greedy: the most likely one was taken.
      expect(top[0]?.logprob).toBeCloseTo(logprob, 5);
      expect(top.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeLessThanOrEqual(1.0001);
    }
    const again = await heard(askModel(app, request));
    expect(again.waits).toEqual(['Reading the conversation …']);
    expect(again.text).toBe(first.text);
    expect(app.jobs.list().map(({ title, state }) => [title, state])).toEqual([
      ['Chat with tiny-test', 'done'],
      ['Chat with tiny-test', 'done'],
    ]);
  });

  it('ends when nobody reads on, and answers others meanwhile', async () => {
    const { app, request } = await place();
    for await (const _ of askModel(app, request)) break;
    const [one, two] = await Promise.all([heard(askModel(app, request)), heard(askModel(app, request))]);
    expect(one.text).toBe(two.text);
    expect(app.jobs.list().map(({ state }) => state)).toEqual(['done', 'done', 'cancelled']);
    const cancel = new AbortController();
    cancel.abort();
    await expect(heard(askModel(app, request, cancel.signal))).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('gives as many tokens as the context has room for, and says when the conversation is too long', async () => {
    const { app, request } = await place();
    const { end } = await heard(askModel(app, { ...request, sampling: { ...request.sampling, maxTokens: 32_000 } }));
    expect(end?.tokens).toBeGreaterThan(0);
    const messages = [{ role: 'user', content: 'red blue '.repeat(2000) }] as const;
    await expect(heard(askModel(app, { ...request, messages }))).rejects.toMatchObject({
      code: 'CONTEXT_TOO_SHORT',
      message: expect.stringMatching(/^The model's context is \d+ tokens; the prompt has \d+$/),
    });
  });
});

describe('withoutSystem', () => {
  it('takes a model’s own system prompt apart from its other settings', async () => {
    const { model } = await place();
    const settings = { system_prompt: 'Be brief.', chat_template_kwargs: { enable_thinking: false } };
    writeFileSync(join(model, CHAT_SETTINGS), JSON.stringify(settings));
    const parts = { base: model, adapter: null, tokenizer: model };
    const { parts: bare, system } = withoutSystem(parts);
    expect(system).toBe('Be brief.');
    expect(bare.chat).toMatchObject({ system_prompt: null, chat_template_kwargs: { enable_thinking: false } });
    expect(withoutSystem(bare).system).toBeNull();
  });
});
