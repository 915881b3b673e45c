import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ChatNews } from '../../../../main/api/contract/index.ts';
import { type ChatDeps, freshState, openChatStore } from '../../../../renderer/playground/chat/chat-store.ts';
import { emptyChat, toKept } from '../../../../renderer/playground/chat/conversation.ts';
import { storeChat, storedChat, storedMessage, storeMessage } from '../../../../renderer/playground/chat/session.ts';

type Asked = Parameters<ChatDeps['ask']>[0];

/** A store whose models say the next word each time that it is let; `paint` shows what has come. */
function chatting(models: readonly string[] = ['a', 'b']) {
  const asked: Asked[] = [];
  const kept: Parameters<ChatDeps['keep']>[0][] = [];
  const speakers = new Map<string, { say: (news: ChatNews) => void; fail: (error: Error) => void }>();
  const paints: (() => void)[] = [];
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  const store = openChatStore(
    {
      ask: async (input, signal) => {
        asked.push(input);
        return said((speaker) => speakers.set(input.model, speaker), signal);
      },
      keep: async (input) => {
        kept.push(input);
        return { id: input.id ?? 7 };
      },
      nameOf: (ref) => `model ${ref}`,
      beforePaint: (work) => void paints.push(work),
      onChange: (state) => storeChat(storage, state),
    },
    freshState({ ...emptyChat, models }),
  );
  const say = async (model: string, news: ChatNews): Promise<void> => {
    speakers.get(model)?.say(news);
    await sleep(0);
  };
  const paint = (): void => {
    for (const work of paints.splice(0)) work();
  };
  const fail = async (model: string): Promise<void> => {
    speakers.get(model)?.fail(new Error('no memory'));
    await sleep(0);
  };
  const texts = (): unknown => store.get().chat.turns.map(({ answers }) => answers.map((one) => one?.content));
  return { store, storage, asked, kept, say, fail, paint, texts };
}

async function* said(
  onSpeaker: (speaker: { say: (news: ChatNews) => void; fail: (error: Error) => void }) => void,
  signal: AbortSignal,
): AsyncGenerator<ChatNews> {
  const waiting: (ChatNews | Error)[] = [];
  let wake: () => void = () => undefined;
  const push = (one: ChatNews | Error): void => {
    waiting.push(one);
    wake();
  };
  onSpeaker({ say: push, fail: push });
  signal.addEventListener('abort', () => push(new Error('aborted')));
  for (;;) {
    const next = waiting.shift();
    if (next instanceof Error) throw next;
    if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
    else {
      yield next;
      if (next.kind === 'end') return;
    }
  }
}

const word = (text: string): ChatNews => ({ kind: 'tokens', tokens: [{ token: text, text, logprob: -1, top: [] }] });
const end: ChatNews = {
  kind: 'end',
  end: { finish: 'stop', tokens: 2, promptTokens: 9, seconds: 1, backend: 'wasm', askedAs: null },
};

describe('openChatStore', () => {
  it('asks every model at once, each beside the others, and shows what has come before each picture', async () => {
    const { store, asked, say, paint, texts } = chatting();
    store.send('Hello');
    await sleep(0);
    expect(asked.map(({ model, beside }) => [model, beside])).toEqual([
      ['a', ['b']],
      ['b', ['a']],
    ]);
    await say('a', { kind: 'waiting', why: 'Loading …' });
    expect(store.get().columns[0]).toMatchObject({ state: 'asked', note: 'Loading …' });
    await say('a', word('Good'));
    await say('a', word(' day'));
    expect(texts()).toEqual([[undefined, undefined]]);
    paint();
    expect(texts()).toEqual([['Good day', undefined]]);
    await say('a', end);
    expect(store.get().chat.turns[0]?.answers[0]).toMatchObject({ end: 'stop', tokens: 2, model: 'model a' });
    expect(store.get().spoken).toEqual(['model a: Good day']);
    expect(store.get().columns.map(({ state }) => state)).toEqual(['idle', 'asked']);
    store.send('Too early');
    expect(store.get().chat.turns).toHaveLength(1);
  });

  it('keeps what was said when it is stopped, and asks again with another seed', async () => {
    const { store, asked, say, texts } = chatting(['a']);
    store.send('Hello');
    await sleep(0);
    await say('a', word('Half'));
    store.stop();
    await sleep(0);
    expect(texts()).toEqual([['Half']]);
    expect(store.get().chat.turns[0]?.answers[0]?.end).toBe('stopped');
    store.regenerate(0);
    await sleep(0);
    expect(texts()).toEqual([[undefined]]);
    expect(asked.map(({ sampling }) => sampling.seed)).toEqual([42, 43]);
    await say('a', end);
  });

  it('keeps the answer that it had when another one fails', async () => {
    const { store, say, fail, texts } = chatting(['a']);
    store.send('Hello');
    await sleep(0);
    await say('a', word('Hi'));
    await say('a', end);
    store.regenerate(0);
    await sleep(0);
    await fail('a');
    expect(texts()).toEqual([['Hi']]);
    expect(store.get().columns[0]).toMatchObject({ state: 'failed' });
  });

  it('draws other tokens for two columns of one model', async () => {
    const { store, asked } = chatting(['a', 'a']);
    store.send('Hello');
    await sleep(0);
    expect(asked.map(({ sampling }) => sampling.seed)).toEqual([42, 43]);
    store.stop();
  });

  it('drops the later turns of an edited message, also while models answer', async () => {
    const { store, asked, say, texts } = chatting(['a']);
    store.send('Hello');
    await sleep(0);
    await say('a', word('Hi'));
    store.editUser(0, 'Good evening');
    await sleep(0);
    expect(asked.at(-1)?.messages).toEqual([{ role: 'user', content: 'Good evening' }]);
    expect(texts()).toEqual([[undefined]]);
    await say('a', word('Evening'));
    await say('a', end);
    expect(texts()).toEqual([['Evening']]);
    expect(store.get().columns).toEqual([{ state: 'idle', note: null, error: null }]);
  });

  it('is kept as it continues, once it is', async () => {
    const { store, kept, say } = chatting(['a']);
    store.send('Hello');
    await sleep(0);
    await say('a', word('Hi'));
    await say('a', end);
    expect(kept).toEqual([]);
    await store.keep();
    expect(store.get().keptId).toBe(7);
    store.editAnswer(0, 0, 'Hi there');
    expect(kept.at(-1)).toEqual({ id: 7, conversation: toKept(store.get().chat) });
    store.send('More');
    await sleep(0);
    expect(kept).toHaveLength(2);
    await say('a', end);
    expect(kept).toHaveLength(3);
    store.clear();
    expect(store.get()).toMatchObject({ keptId: null, chat: { turns: [], models: ['a'] } });
  });
});

describe('storedChat', () => {
  it('comes back after a reload, and starts empty where nothing can be read', () => {
    const stored = new Map<string, string>();
    const storage = {
      setItem: (key: string, value: string) => void stored.set(key, value),
      getItem: (key: string) => stored.get(key) ?? null,
    };
    expect(storedChat(storage).chat).toEqual(emptyChat);
    const { store } = chatting(['a']);
    store.set({ system: 'Be brief.' });
    storeChat(storage, store.get());
    expect(storedChat(storage).chat).toMatchObject({ system: 'Be brief.', models: ['a'] });
    for (const [key] of stored) stored.set(key, '{"conversation":{"turns":3}}');
    expect(storedChat(storage).chat).toEqual(emptyChat);
  });

  it('has what was said while models still answer, and the message being written', async () => {
    const { store, storage, say } = chatting(['a', 'b']);
    store.send('Hi');
    expect(storedChat(storage).chat.turns).toMatchObject([{ user: 'Hi', answers: [null, null] }]);
    await sleep(0);
    await say('a', word('Yes'));
    await say('a', end);
    expect(storedChat(storage).chat.turns).toMatchObject([{ answers: [{ content: 'Yes' }, null] }]);
    storeMessage(storage, 'unsent');
    expect(storedMessage(storage)).toBe('unsent');
  });
});
