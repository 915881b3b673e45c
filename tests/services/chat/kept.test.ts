import { describe, expect, it } from 'vitest';
import type { Conversation } from '../../../main/services/chat/conversation.ts';
import {
  keepConversation,
  listConversations,
  openConversation,
  removeConversation,
  renameConversation,
} from '../../../main/services/chat/kept.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';

const conversation: Conversation = {
  system: '',
  models: ['bundled:tiny', 'checkpoint:1'],
  sampling: {
    temperature: 0,
    topP: 1,
    topK: 0,
    minP: 0,
    repetitionPenalty: 1,
    seed: 42,
    maxTokens: 64,
    stop: ['\n'],
  },
  turns: [
    {
      user: `  Tell me\n${'very '.repeat(20)}much`,
      answers: [
        {
          model: 'tiny',
          content: 'No 👍🏽',
          end: 'length',
          tokens: 2,
          seconds: 0.5,
          probabilities: { ends: [2, 7], logprobs: [-0.1, -3] },
        },
        null,
      ],
    },
  ],
};

function place() {
  const topics: string[] = [];
  const changes = openChanges();
  changes.listen(({ topic }) => void topics.push(topic));
  return { app: { store: temporaryStore(), changes }, topics };
}

describe('keepConversation', () => {
  it('keeps it under the start of what was said, and as it continues', () => {
    const { app, topics } = place();
    const id = keepConversation(app, conversation, null);
    expect(listConversations(app)).toMatchObject([
      { id, turns: 1, title: expect.stringMatching(/^Tell me very .*…$/) },
    ]);
    expect(openConversation(app, id).conversation).toEqual(conversation);
    const longer = { ...conversation, turns: [...conversation.turns, { user: 'More', answers: [null, null] }] };
    expect(keepConversation(app, longer, id)).toBe(id);
    expect(openConversation(app, id).conversation).toEqual(longer);
    expect(topics).toEqual(['conversations', 'conversations']);
  });

  it('lists the one first that was spoken to last, and keeps its name', () => {
    const { app } = place();
    const [first, second] = [keepConversation(app, conversation, null), keepConversation(app, conversation, null)];
    renameConversation(app, first, 'The first');
    expect(listConversations(app).map(({ id }) => id)).toEqual([second, first]);
    keepConversation(app, conversation, first);
    expect(listConversations(app)[0]).toMatchObject({ id: first, title: 'The first' });
    removeConversation(app, second);
    expect(listConversations(app)).toHaveLength(1);
  });

  it('refuses an empty one, and one that was deleted', () => {
    const { app } = place();
    expect(errorOf(() => keepConversation(app, { ...conversation, turns: [] }, null))).toMatchObject({
      code: 'CONVERSATION_EMPTY',
    });
    for (const work of [
      () => keepConversation(app, conversation, 9),
      () => openConversation(app, 9),
      () => renameConversation(app, 9, 'x'),
      () => removeConversation(app, 9),
    ])
      expect(errorOf(work)).toMatchObject({ code: 'CONVERSATION_UNKNOWN' });
  });

  it('says which part of a stored one can’t be read', () => {
    const { app } = place();
    const id = app.store.conversations.add({ title: 'Old', turns: 1, content: { ...conversation, turns: 'none' } });
    expect(errorOf(() => openConversation(app, id))).toMatchObject({
      code: 'CONVERSATION_UNREADABLE',
      message: expect.stringContaining('"Old" can\'t be shown: "turns"'),
    });
  });
});
