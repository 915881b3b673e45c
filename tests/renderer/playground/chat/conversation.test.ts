import { describe, expect, it } from 'vitest';
import {
  answeredMessages,
  type Chat,
  type ChatAnswer,
  emptyChat,
  fromKept,
  jsonLines,
  messagesOf,
  toKept,
  withAnswer,
  withColumn,
  withEditedAnswer,
  withoutColumn,
  withSharedAnswers,
  withTurn,
  withUserText,
} from '../../../../renderer/playground/chat/conversation.ts';

const answer = (content: string, change: Partial<ChatAnswer> = {}): ChatAnswer => ({
  model: 'tiny',
  content,
  end: 'stop',
  tokens: 2,
  seconds: 1,
  parts: null,
  attempt: 0,
  ...change,
});

/** Two models, two turns; the second has not answered the second turn. */
const chat: Chat = {
  ...emptyChat,
  system: 'Be brief.',
  models: ['bundled:tiny', 'checkpoint:1'],
  turns: [
    { user: 'Hello', answers: [answer('Hi'), answer('Good day', { model: 'run 1' })] },
    { user: 'And now?', answers: [answer('Nothing'), null] },
  ],
};

describe('messagesOf', () => {
  it('gives each model its own answers, up to the turn that it answers', () => {
    expect(messagesOf(chat, 1)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Good day' },
      { role: 'user', content: 'And now?' },
    ]);
    expect(messagesOf({ ...chat, system: ' ' }, 0, 0)).toEqual([{ role: 'user', content: 'Hello' }]);
  });

  it('leaves out what was never answered', () => {
    expect(messagesOf(withTurn(chat, 'Still there?'), 1).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'user',
    ]);
  });
});

describe('withUserText', () => {
  it('drops what was said after it', () => {
    expect(withUserText(chat, 0, 'Hey').turns).toEqual([{ user: 'Hey', answers: [null, null] }]);
  });
});

describe('withEditedAnswer', () => {
  it('keeps the turns after it, and loses the probabilities of what the model wrote', () => {
    const grown = withAnswer(chat, 0, 0, answer('Hi', { parts: [{ token: 'Hi', text: 'Hi', logprob: -1, top: [] }] }));
    const edited = withEditedAnswer(grown, 0, 0, 'Hello to you');
    expect(edited.turns[0]?.answers[0]).toMatchObject({ content: 'Hello to you', end: 'edited', parts: null });
    expect(edited.turns).toHaveLength(2);
    expect(withEditedAnswer(grown, 0, 0, 'Hi')).toBe(grown);
  });
});

describe('columns', () => {
  it('continue from the last one when they are added, and can share one’s answers', () => {
    const three = withColumn(chat);
    expect(three.turns[0]?.answers.map((one) => one?.content)).toEqual(['Hi', 'Good day', 'Good day']);
    expect(three.models).toEqual(['bundled:tiny', 'checkpoint:1', '']);
    const shared = withSharedAnswers(three, 0, 0);
    expect(shared.turns.map(({ answers }) => answers.map((one) => one?.content))).toEqual([
      ['Hi', 'Hi', 'Hi'],
      ['Nothing', undefined, undefined],
    ]);
    expect(withoutColumn(chat, 0)).toMatchObject({ models: ['checkpoint:1'], turns: [{ user: 'Hello' }, {}] });
  });
});

describe('toKept', () => {
  it('comes back with the probability of each token, and ends what still grows', () => {
    const parts = [
      { token: 'Good', text: 'Good', logprob: -0.5, top: [{ token: 'Bad', logprob: -2 }] },
      { token: ' day', text: ' day', logprob: -0.25, top: [] },
    ];
    const growing = withAnswer(chat, 1, 1, answer('Good day', { end: null, parts }));
    const kept = toKept(growing);
    expect(kept.turns[1]?.answers[1]).toEqual({
      model: 'tiny',
      content: 'Good day',
      end: 'stopped',
      tokens: 2,
      seconds: 1,
      probabilities: { ends: [4, 8], logprobs: [-0.5, -0.25] },
    });
    const back = fromKept(JSON.parse(JSON.stringify(kept)));
    expect(back.turns[1]?.answers[1]?.parts).toEqual(parts.map((part) => ({ ...part, top: [] })));
    expect(toKept(back)).toEqual(kept);
  });
});

describe('jsonLines', () => {
  it('has a line of messages for each model that has answered', () => {
    const lines = jsonLines(withColumn(chat), (ref) => ref)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toEqual({ messages: answeredMessages(chat, 0), model: 'tiny' });
    expect(lines[1]).toMatchObject({ model: 'run 1' });
    expect(jsonLines(withTurn(emptyChat, 'Hello'), String)).toBe('');
  });
});
