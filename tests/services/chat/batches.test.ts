import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chatTokens } from '../../../main/services/chat/ask.ts';
import { inBatches } from '../../../main/services/chat/batches.ts';
import type { ChatNews } from '../../../main/services/chat/news.ts';

const word = (text: string): ChatNews => ({ kind: 'tokens', tokens: [{ token: text, text, logprob: -1, top: [] }] });
const textOf = (news: ChatNews): string =>
  news.kind === 'tokens' ? news.tokens.map(({ text }) => text).join('') : news.kind;

describe('inBatches', () => {
  it('joins the tokens that come between two batches, and loses none', async () => {
    const heard: string[] = [];
    const stream = inBatches((say) => {
      const speak = async (): Promise<void> => {
        say({ kind: 'waiting', why: 'Loading' });
        for (const letter of 'abc') say(word(letter));
        await sleep(30);
        for (const letter of 'defg') say(word(letter));
      };
      return { result: speak(), cancel: () => undefined };
    }, 10);
    for await (const news of stream) heard.push(textOf(news));
    expect(heard).toEqual(['waiting', 'abc', 'defg']);
  });

  it('fails as the work does, after what it has said', async () => {
    const heard: string[] = [];
    const stream = inBatches((say) => {
      say(word('half'));
      return { result: Promise.reject(new Error('no memory')), cancel: () => undefined };
    }, 1);
    const read = async (): Promise<void> => {
      for await (const news of stream) heard.push(textOf(news));
    };
    await expect(read()).rejects.toThrow('no memory');
    expect(heard).toEqual(['half']);
  });

  it('cancels the work when nobody reads on', async () => {
    let isCancelled = false;
    const stream = inBatches((say) => {
      say(word('one'));
      return {
        result: new Promise(() => undefined),
        cancel: () => {
          isCancelled = true;
        },
      };
    }, 1);
    for await (const _ of stream) break;
    expect(isCancelled).toBe(true);
  });
});

describe('chatTokens', () => {
  const token = (text: string) => ({ id: 1, text, logprob: -1, top: [{ id: 2, text: 'x', logprob: -2 }] });

  it('gives each token its part of the text, and what is left to the last one', () => {
    const pieces = (text: string, tokens: readonly string[]): string[] =>
      chatTokens(text, tokens.map(token)).map((one) => one.text);
    expect(pieces(' day', [' day'])).toEqual([' day']);
    expect(pieces('👍!', ['\ufffd', '\ufffd', '!'])).toEqual(['', '', '👍!']);
    expect(pieces(' good day', [' good', ' day', '<|im_end|>'])).toEqual([' good', ' day', '']);
    expect(pieces('', ['<|im_end|>'])).toEqual(['']);
  });

  it('names tokens as the vocabulary has them', () => {
    expect(chatTokens('a', [token('▁a')])).toEqual([
      { token: '▁a', text: 'a', logprob: -1, top: [{ token: 'x', logprob: -2 }] },
    ]);
  });
});
