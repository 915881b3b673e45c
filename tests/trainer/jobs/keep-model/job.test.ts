import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../../main/model/model.ts';
import { openTokenTexts } from '../../../../main/model/token-texts.ts';
import { loadTokenizer } from '../../../../main/model/tokenizer.ts';
import { buildKernels } from '../../../../main/tensor/kernels/build.ts';
import { openInbox } from '../../../../main/trainer/jobs/keep-model/inbox.ts';
import { runJob } from '../../../../main/trainer/jobs/run-job.ts';
import type { AnswerEvent, AnswerRequest, AnswerToken } from '../../../../main/trainer/protocol/answers.ts';
import type { JobEvent } from '../../../../main/trainer/protocol/trainer-events.ts';
import { temporaryFolderOfFile } from '../../../temporary-folder.ts';
import { writeTinyModel } from '../../../tiny-model.ts';

const model = join(temporaryFolderOfFile(), 'model');
disposeModel(await writeTinyModel(model));
const job = {
  kind: 'keep-model',
  model: { base: model, adapter: null, tokenizer: model },
  beside: [],
  backend: 'wasm',
  threads: 1,
  kernelsFile: buildKernels(),
} as const;

const PLAIN: AnswerRequest = {
  prompt: { kind: 'text', text: 'wa wb' },
  n: 1,
  maxTokens: 12,
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: null,
  repetitionPenalty: 1,
  seed: 3,
  stop: [],
  logprobs: 2,
};

interface Heard {
  text: string;
  tokens: AnswerToken[];
  finish: string | null;
  events: AnswerEvent[];
}

type Step = { readonly ask: AnswerRequest } | { readonly cancel: number };

/** Sends requests after so many events of others, or when all have ended; what was heard of each choice, by request. */
async function ask(steps: readonly (readonly [after: number, step: Step])[], until = steps.length): Promise<Heard[]> {
  const inbox = openInbox();
  const heard: Heard[] = [];
  const waiting = [...steps];
  let [count, done, asked] = [0, 0, 0];
  const send = (): void => {
    while (waiting.length > 0 && ((waiting[0]?.[0] ?? 0) <= count || done === asked)) {
      const [, step] = waiting.shift() as (typeof steps)[number];
      if ('cancel' in step) inbox.receive({ kind: 'cancel', id: step.cancel });
      else {
        heard.push({ text: '', tokens: [], finish: null, events: [] });
        inbox.receive({ kind: 'ask', id: asked++, request: step.ask });
      }
    }
  };
  let failure: unknown = null;
  const emit = (event: JobEvent): void => {
    if (event.kind === 'failed') failure = event;
    if (event.kind === 'kept') send();
    if (event.kind !== 'answer') return;
    count++;
    const one = heard[event.id] as Heard;
    one.events.push(event.event);
    if (event.event.kind === 'delta') {
      one.text += event.event.text;
      one.tokens.push(...event.event.tokens);
    }
    if (event.event.kind === 'ended') one.finish = event.event.finish;
    if (event.event.kind === 'done' || event.event.kind === 'failed') done++;
    send();
    if (done === until) inbox.receive({ kind: 'stop' });
  };
  const before = tf.memory().numTensors;
  await runJob(job, emit, inbox);
  expect(failure).toBe(null);
  expect(tf.memory().numTensors).toBe(before);
  return heard;
}

describe('keep-model', () => {
  it('answers a request the same whatever else is asked meanwhile, to the bit', async () => {
    // Without its end token.
    const long: AnswerRequest = { ...PLAIN, maxTokens: 40, bias: [[loadTokenizer(model).eosTokenId ?? 0, -1000]] };
    const [alone] = await ask([[0, { ask: long }]]);
    expect(alone?.tokens.length).toBeGreaterThan(34);
    const others = Array.from({ length: 24 }, (_, i): readonly [number, Step] => [
      i * 3,
      {
        ask: {
          ...PLAIN,
          prompt: { kind: 'text', text: 'wc '.repeat(1 + (i % 5)).trim() },
          seed: i,
          n: 1 + (i % 3),
          temperature: i % 4 === 0 ? 0 : 0.8,
          topP: i % 2 === 0 ? 1 : 0.9,
          topK: i % 5 === 0 ? 3 : 0,
          maxTokens: 1 + i,
        },
      },
    ]);
    const among = await ask([
      [0, others[0]?.[1] as Step],
      [20, { ask: long }],
      ...others.slice(1).map(([at, step]) => [20 + at, step] as const),
    ]);
    expect(among[1]).toEqual(alone);
    expect(among.every(({ events }) => events.at(-1)?.kind === 'done')).toBe(true);
  });

  it('reports the tokens of the prompt and the likeliest alternatives', async () => {
    const words = '<eos>wa wb';
    const prompt = { kind: 'text', text: words } as const;
    const [heard] = await ask([[0, { ask: { ...PLAIN, prompt, temperature: 0, echo: true, maxTokens: 3 } }]]);
    const [begun] = heard?.events ?? [];
    if (begun?.kind !== 'begun') throw new Error('Expected the prompt first');
    expect(begun.prompt?.text).toBe(words);
    expect(begun.prompt?.tokens.map(({ id }) => id)).toEqual(loadTokenizer(model).encode(words, true));
    expect(begun.prompt?.tokens[0]).toMatchObject({ logprob: null, top: [] });
    for (const { id, logprob, top } of heard?.tokens ?? []) {
      expect(top).toHaveLength(2);
      expect(top[0]).toMatchObject({ id, logprob });
      expect(top[0]?.logprob).toBeGreaterThanOrEqual(top[1]?.logprob ?? 0);
    }
    // The same token scored as part of a prompt.
    const { ids: all } = { ids: [...(begun.prompt?.tokens ?? []), ...(heard?.tokens ?? [])].map(({ id }) => id) };
    const [again] = await ask([
      [0, { ask: { ...PLAIN, prompt: { kind: 'ids', ids: all }, echo: true, maxTokens: 1 } }],
    ]);
    const [read] = again?.events ?? [];
    if (read?.kind !== 'begun') throw new Error('Expected the prompt first');
    const own = read.prompt?.tokens.slice(begun.promptTokens) ?? [];
    own.forEach(({ logprob }, i) => void expect(logprob).toBeCloseTo(heard?.tokens[i]?.logprob ?? 0, 5));
  });

  it('ends before a stop string that lies across tokens, and frees what is cancelled', async () => {
    const [whole] = await ask([[0, { ask: { ...PLAIN, maxTokens: 10 } }]]);
    const text = whole?.text ?? '';
    const stop = text.slice(4, 9);
    const [stopped, cancelled] = await ask(
      [
        [0, { ask: { ...PLAIN, maxTokens: 10, stop: ['never', stop] } }],
        [0, { ask: { ...PLAIN, maxTokens: 40, seed: 8 } }],
        [6, { cancel: 1 }],
      ],
      1,
    );
    expect(stopped?.text).toBe(text.slice(0, text.indexOf(stop)));
    expect(stopped?.finish).toBe('stop');
    expect(cancelled?.finish).toBe(null);
    const tokenText = openTokenTexts(loadTokenizer(model));
    expect(stopped?.tokens.map(({ id }) => tokenText(id)).join('').length).toBeGreaterThanOrEqual(
      stopped?.text.length ?? 0,
    );
  });

  it('ends in a conversation where training ended, and keeps the text that it ends with', async () => {
    const prompt = { kind: 'messages', messages: [{ role: 'user', content: 'wa wb' }] } as const;
    const asked = { ...PLAIN, prompt, maxTokens: 10 };
    const [whole] = await ask([[0, { ask: asked }]]);
    const text = whole?.text ?? '';
    // Its end lies inside the first token.
    const stop = text.slice(0, 1);
    writeFileSync(join(model, 'chat_settings.json'), JSON.stringify({ stop_strings: ['never', stop] }));
    const [ended, plain] = await ask([
      [0, { ask: asked }],
      [0, { ask: { ...PLAIN, maxTokens: 10 } }],
    ]);
    rmSync(join(model, 'chat_settings.json'));
    expect(ended).toMatchObject({ text: stop, finish: 'stop', tokens: whole?.tokens.slice(0, 1) });
    // A text to continue isn't a conversation.
    expect(plain?.text.length).toBeGreaterThan(1);
  });

  it('refuses what is too long, and tokens that it has not, with the numbers, and answers the others', async () => {
    const [failed, biased, answered] = await ask([
      [0, { ask: { ...PLAIN, maxTokens: 100_000 } }],
      [0, { ask: { ...PLAIN, bias: [[100_000, -100]] } }],
      [0, { ask: { ...PLAIN, maxTokens: 2 } }],
    ]);
    expect(failed?.events).toMatchObject([{ kind: 'failed', code: 'CONTEXT_TOO_SHORT', input: true }]);
    const message = expect.stringMatching(/in the logit bias, got 100000$/);
    expect(biased?.events).toMatchObject([{ kind: 'failed', code: 'BAD_TOKEN', message, input: true }]);
    expect(answered?.events.at(-1)?.kind).toBe('done');
  });
});
