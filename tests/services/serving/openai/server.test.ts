/** The address over a double of the model: what it accepts, refuses and sends. */
import { request as ask } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { inputError } from '../../../../main/errors.ts';
import type { AnswerPart } from '../../../../main/services/serving/kept-model.ts';
import { openAddress } from '../../../../main/services/serving/openai/server.ts';
import type { AnswerRequest } from '../../../../main/trainer/protocol/answers.ts';

const asked: AnswerRequest[] = [];
const cancelled: AnswerRequest[] = [];

const token = (text: string) => ({ id: 1, text, logprob: -0.5, top: [{ id: 1, text, logprob: -0.5 }] });

/** Says "Hi" and the seed for each choice; a prompt "wait" is never answered, and "long" is too long. */
async function* answer(request: AnswerRequest, signal?: AbortSignal): AsyncGenerator<AnswerPart, void> {
  asked.push(request);
  const { prompt, n, seed, echo } = request;
  const words =
    prompt.kind === 'messages' ? (prompt.messages.at(-1)?.content ?? '') : prompt.kind === 'text' ? prompt.text : '';
  if (words === 'smile') {
    yield { kind: 'delta', choice: 0, text: '', tokens: [{ ...token('\uFFFD'), bytes: [0xf0, 0x9f] }] };
    yield { kind: 'delta', choice: 0, text: '🙂', tokens: [{ ...token('\uFFFD'), bytes: [0x99, 0x82] }] };
    yield { kind: 'delta', choice: 0, text: '🙂', tokens: [token('🙂')] };
  }
  if (words === 'part') {
    // The first byte of two.
    const part = { ...token('\uFFFD'), bytes: [195] };
    yield { kind: 'delta', choice: 0, text: '', tokens: [{ ...part, top: [part] }] };
  }
  if (words === 'long') throw inputError('CONTEXT_TOO_SHORT', "The model's context is 64 tokens; the prompt has 70");
  const shown = echo === true && { prompt: { text: 'ab', tokens: [token('a'), token('b')] } };
  yield { kind: 'begun', promptTokens: 5, ...shown };
  yield { kind: 'delta', choice: 0, text: 'Hi', tokens: [token('Hi')] };
  if (words === 'wait') {
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    cancelled.push(request);
    return;
  }
  for (let choice = 1; choice < n; choice++) yield { kind: 'delta', choice, text: 'Hi', tokens: [token('Hi')] };
  for (let choice = 0; choice < n; choice++) {
    yield { kind: 'delta', choice, text: ` ${seed}`, tokens: [token(` ${seed}`)] };
    const call = { type: 'function', function: { name: 'f', arguments: { a: 1 } } } as const;
    yield { kind: 'ended', choice, finish: 'stop', tokens: 2, ...(words === 'call' && { calls: [call] }) };
  }
}

const served = await openAddress({ kept: { ask: answer, context: 64 }, name: 'm', port: 0 });
afterAll(() => served.close());

const headers = { Authorization: `Bearer ${served.key}`, 'Content-Type': 'application/json' };
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

/** As much of a reply, an error or a chunk as is read here. */
interface Reply {
  readonly error: { readonly param: string | null };
  readonly usage: object;
  readonly choices: readonly {
    readonly text: string;
    readonly delta?: { readonly content?: string; readonly role?: string };
    readonly logprobs: { readonly text_offset: readonly number[] } | null;
  }[];
}

async function post(
  path: string,
  body: unknown,
  more: Record<string, string> = {},
): Promise<{ status: number; body: Reply }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${served.address}${path}`, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: text,
  });
  return { status: response.status, body: (await response.json()) as Reply };
}

const chat = (body: object) => post('/chat/completions', { model: 'm', ...body });
const complete = (body: object) => post('/completions', { model: 'm', ...body });

/** The chunks of a stream; its end is checked. */
async function chunks(path: string, body: object): Promise<Reply[]> {
  const response = await fetch(`${served.address}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'm', stream: true, ...body }),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
  expect(lines.pop()).toBe('data: [DONE]');
  return lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as Reply);
}

describe('openAddress', () => {
  it('lists its model', async () => {
    const list = await (await fetch(`${served.address}/models`, { headers })).json();
    expect(list).toMatchObject({ object: 'list', data: [{ id: 'm', object: 'model', max_model_len: 64 }] });
    expect((await fetch(`${served.address}/models/m`, { headers })).status).toBe(200);
    expect((await fetch(`${served.address}/models/other`, { headers })).status).toBe(404);
  });

  it('answers a chat, with log-probabilities and several choices', async () => {
    const { status, body } = await chat({ ...user('x'), seed: 7, n: 2, logprobs: true, top_logprobs: 1 });
    expect(status).toBe(200);
    const one = { token: 'Hi', logprob: -0.5, bytes: [72, 105] };
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [0, 1].map((index) => ({
        index,
        message: { role: 'assistant', content: 'Hi 7' },
        finish_reason: 'stop',
        logprobs: { content: [{ ...one, top_logprobs: [one] }, { token: ' 7' }] },
      })),
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    });
  });

  it('reports the bytes of a token that is part of a character', async () => {
    const { body } = await chat({ ...user('part'), logprobs: true, top_logprobs: 1 });
    const part = { token: '\uFFFD', bytes: [195] };
    expect(body.choices[0]?.logprobs).toMatchObject({ content: [{ ...part, top_logprobs: [part] }, {}, {}] });
  });

  it('hands on the settings, the conversation and the tools', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    const messages = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'be ' },
          { type: 'text', text: 'brief' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        reasoning_content: 'Call it.',
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
      { role: 'user', content: 'call' },
    ];
    const settings = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      min_p: 0.1,
      repetition_penalty: 1.1,
      stop: 'END',
      max_completion_tokens: 9,
    };
    const { body } = await chat({
      messages,
      tools,
      ...settings,
      logit_bias: { 4: -100 },
      user: 'u',
      tool_choice: 'auto',
    });
    expect(asked.at(-1)).toMatchObject({
      prompt: {
        kind: 'messages',
        messages: [
          { role: 'system', content: 'be brief' },
          {
            ...{ role: 'assistant', content: null, reasoning_content: 'Call it.' },
            tool_calls: [{ id: 'c', function: { name: 'f', arguments: { a: 1 } } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
          { role: 'user', content: 'call' },
        ],
        tools,
      },
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      minP: 0.1,
      repetitionPenalty: 1.1,
      stop: ['END'],
      maxTokens: 9,
      bias: [[4, -100]],
      logprobs: null,
    });
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
    });
  });

  it('completes texts and token ids, with the prompt where it is asked for', async () => {
    const { body } = await complete({ prompt: [[1, 2], [3]], echo: true, logprobs: 1, seed: 1, max_tokens: 0 });
    expect(asked.slice(-2).map(({ prompt }) => prompt)).toEqual([
      { kind: 'ids', ids: [1, 2] },
      { kind: 'ids', ids: [3] },
    ]);
    expect(body.choices).toHaveLength(2);
    expect(body.choices[1]).toMatchObject({
      index: 1,
      text: 'abHi 1',
      logprobs: {
        tokens: ['a', 'b', 'Hi', ' 1'],
        token_logprobs: [-0.5, -0.5, -0.5, -0.5],
        text_offset: [0, 1, 2, 4],
        top_logprobs: [{ a: -0.5 }, { b: -0.5 }, { Hi: -0.5 }, { ' 1': -0.5 }],
      },
    });
    expect(body.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 4 });
    expect((await complete({ prompt: 'a' })).body.choices[0]?.logprobs).toBe(null);
  });

  it('counts characters as Python does: code points, of a token that is a part its whole', async () => {
    const { body } = await complete({ prompt: 'smile', seed: 3, logprobs: 1 });
    const offsets = [0, 0, 1, 2, 4];
    expect(body.choices[0]?.logprobs?.text_offset).toEqual(offsets);
    const parts = await chunks('/completions', { prompt: 'smile', seed: 3, logprobs: 1 });
    expect(parts.flatMap(({ choices }) => choices[0]?.logprobs?.text_offset ?? [])).toEqual(offsets);
  });

  it('streams chats and texts', async () => {
    const said = await chunks('/chat/completions', {
      ...user('call'),
      seed: 3,
      stream_options: { include_usage: true },
    });
    expect(said.map(({ choices }) => choices[0]?.delta?.content ?? '').join('')).toBe('Hi 3');
    expect(said[0]?.choices).toMatchObject([{ delta: { role: 'assistant', content: '' }, logprobs: null }]);
    expect(said.at(-2)?.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      delta: { tool_calls: [{ index: 0 }] },
    });
    expect(said.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 7 } });
    const texts = await chunks('/completions', { prompt: 'x', seed: 3, logprobs: 0 });
    expect(texts.map(({ choices }) => choices[0]?.text).join('')).toBe('Hi 3');
    expect(texts[1]?.choices[0]?.logprobs?.text_offset).toEqual([2]);
  });

  it('frees the rows of a client that goes away', async () => {
    const before = cancelled.length;
    const away = new AbortController();
    const response = await fetch(`${served.address}/chat/completions`, {
      method: 'POST',
      headers,
      signal: away.signal,
      body: JSON.stringify({ model: 'm', stream: true, ...user('wait') }),
    });
    await response.body?.getReader().read();
    away.abort();
    await expect.poll(() => cancelled.length).toBe(before + 1);
  });

  it('says what is wrong with a body, and where', async () => {
    const wrong: readonly (readonly [path: string, body: unknown, param: string | null])[] = [
      ['/chat/completions', '{"model": ', null],
      ['/chat/completions', '[]', null],
      ['/chat/completions', 'null', null],
      ['/chat/completions', { messages: [] }, 'model'],
      ['/chat/completions', { model: 'm' }, 'messages'],
      ['/chat/completions', { model: 'm', messages: [] }, 'messages'],
      ['/chat/completions', { model: 'm', messages: [{ role: 'judge', content: 'x' }] }, 'messages.[0].role'],
      ['/chat/completions', { model: 'm', messages: [{ role: 'user' }] }, 'messages.[0]'],
      [
        '/chat/completions',
        { model: 'm', ...user([{ type: 'image_url', image_url: { url: 'x' } }]) },
        'messages.[0].content',
      ],
      ['/chat/completions', { model: 'm', ...user('x'), temperature: 3 }, 'temperature'],
      ['/chat/completions', { model: 'm', ...user('x'), n: 0 }, 'n'],
      ['/chat/completions', { model: 'm', ...user('x'), n: 1e9 }, 'n'],
      ['/chat/completions', { model: 'm', ...user('x'), stop: [''] }, 'stop'],
      ['/chat/completions', { model: 'm', ...user('x'), top_logprobs: 2 }, 'top_logprobs'],
      ['/chat/completions', { model: 'm', ...user('x'), presence_penalty: 1 }, 'presence_penalty'],
      [
        '/chat/completions',
        { model: 'm', ...user('x'), response_format: { type: 'json_object' } },
        'response_format.type',
      ],
      ['/chat/completions', { model: 'm', ...user('x'), surprise: 1 }, 'surprise'],
      ['/completions', { model: 'm' }, 'prompt'],
      ['/completions', { model: 'm', prompt: [-1] }, 'prompt'],
      ['/completions', { model: 'm', prompt: [[]] }, 'prompt'],
      ['/completions', { model: 'm', prompt: Array(129).fill('x') }, 'prompt'],
      ['/completions', { model: 'm', prompt: Array(100).fill('x'), n: 2 }, 'n'],
      ['/completions', { model: 'm', prompt: 'x', best_of: 2 }, 'best_of'],
    ];
    for (const [path, body, param] of wrong) {
      const { status, body: said } = await post(path, body);
      expect({ body, status }).toEqual({ body, status: 400 });
      expect(String(said.error.param).startsWith(String(param))).toBe(true);
      expect(said.error).toMatchObject({ type: 'invalid_request_error', message: expect.stringMatching(/./) });
    }
    // Of the forms of a field the one that was meant.
    const forms: readonly (readonly [body: object, error: object])[] = [
      [
        user([
          { type: 'text', text: 'x' },
          { type: 'image_url', image_url: { url: 'x' } },
        ]),
        { param: 'messages.[0].content.[1].type', message: expect.stringContaining('this model reads no other') },
      ],
      [
        { ...user('x'), stop: 7 },
        { param: 'stop', message: expect.stringContaining('expected string') },
      ],
    ];
    for (const [body, error] of forms) expect((await chat(body)).body.error).toMatchObject(error);
    expect((await chat(user('long'))).body.error).toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringContaining('64'),
    });
    expect((await chat({ ...user('x'), model: 'gpt' })).status).toBe(404);
    expect((await post('/embeddings', {})).status).toBe(404);
    expect((await fetch(`${served.address}/completions`, { headers })).status).toBe(405);
    expect((await post('/completions', `"${'x'.repeat(17 * 2 ** 20)}"`)).status).toBe(413);
    // The model's process would end while it receives them.
    const nested = `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`;
    const tools = `[{"type": "function", "function": {"name": "f", "parameters": ${nested}}}]`;
    const body = `{"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": ${tools}}`;
    expect(await post('/chat/completions', body)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('nested more than 500 levels') } },
    });
  });

  it('lets in only its own names, no other page, and only with the key', async () => {
    const status = (more: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const url = new URL(`${served.address}/models`);
        ask(url, { headers: { ...headers, ...more } }, (response) => resolve(response.statusCode ?? 0))
          .on('error', reject)
          .end();
      });
    expect(await status({})).toBe(200);
    expect(await status({ Authorization: `Bearer ${served.key}x` })).toBe(401);
    expect(await status({ Authorization: '' })).toBe(401);
    expect(await status({ Host: 'evil.example' })).toBe(403);
    expect(await status({ Origin: 'http://evil.example' })).toBe(403);
    expect(await status({ Origin: `http://127.0.0.1:${served.port}` })).toBe(200);
  });
});
