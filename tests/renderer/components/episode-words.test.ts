import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../main/samples/chat-message.ts';
import { callError, endingOf, stepRewards } from '../../../renderer/components/episode-words.ts';

const said = (outcome?: ChatMessage['outcome'], more: Partial<ChatMessage> = {}): ChatMessage => ({
  role: 'assistant',
  content: 'a',
  ...(outcome && { outcome }),
  ...more,
});
const heard: ChatMessage = { role: 'user', content: 'b' };
const result: ChatMessage = { role: 'tool', content: '2', name: 'price' };
const going = { done: false };

describe('endingOf', () => {
  it('says where an episode ended and why', () => {
    expect(endingOf([said(going), heard, said({ done: true })], {})).toBe(
      'Ended after 2 turns: the conversation was over',
    );
    expect(endingOf([said(going), result, said({ done: true })], { terminated: true })).toBe(
      'Ended after 2 turns: answered without another call',
    );
    expect(endingOf([said(going), result], {})).toBe('Ended after 1 turn: the task allows no more');
    expect(endingOf([said(going), result], { terminated: false })).toMatch(/cut off/);
    expect(endingOf([said(going), result, said()], { failure: 'price: lost' })).toBe(
      'Ended after 2 turns: price: lost',
    );
  });

  it('says nothing of a conversation whose turns nobody judged', () => {
    expect(endingOf([said(), heard, said()], {})).toBeNull();
  });
});

describe('what a turn shows', () => {
  it('is what its step gave', () => {
    expect(stepRewards(said({ done: false, rewards: { reward: 0.5 } }))).toBe('reward 0.5');
    expect(stepRewards(said({ done: false, rewards: { a: 1, b: 0 } }))).toBe('a 1 · b 0');
    expect(stepRewards(said(going))).toBeNull();
  });

  it('is why a call failed', () => {
    expect(callError({ role: 'tool', content: '{"error":"There is no boat"}' })).toBe('There is no boat');
    expect(callError({ role: 'tool', content: '{"error": broken' })).toBe('{"error": broken');
    expect(callError(result)).toBeNull();
  });
});
