import { describe, expect, it } from 'vitest';
import { describeFault } from '../../../main/io/text-file.ts';
import { isChatExport, readChatExport } from '../../../main/services/texts/chat-export.ts';
import { parseTexts } from '../../../main/services/texts/parse.ts';

const long = 'The ferry left at nine with eleven goats aboard and nobody to meet them.';
const longer = `${long} Nobody had thought to ask where they were going, least of all the goats.`;

const mapping = {
  root: { id: 'root', message: null },
  q: { message: { author: { role: 'user' }, content: { content_type: 'text', parts: [`Write. ${long}`] } } },
  a: { message: { author: { role: 'assistant' }, content: { content_type: 'text', parts: [long, { image: 1 }] } } },
  b: { message: { author: { role: 'assistant' }, content: { content_type: 'text', parts: [longer] } } },
  c: { message: { author: { role: 'assistant' }, content: { content_type: 'text', parts: ['Sure.'] } } },
};

describe('readChatExport', () => {
  it('reads conversations of message trees', () => {
    const found = readChatExport([{ title: 'Ferries', mapping }], 10);
    expect(found).toEqual({
      texts: [
        { title: 'Ferries', text: long },
        { title: 'Ferries (2)', text: longer },
      ],
      answers: 3,
    });
  });

  it('reads conversations with responses one level down', () => {
    const responses = [
      { response: { sender: 'human', message: longer } },
      { response: { sender: 'ASSISTANT', message: `# ${long}` } },
    ];
    const value = { conversations: [{ conversation: { id: '1', title: 'Goats' }, responses }] };
    expect(readChatExport(value, 10).texts).toEqual([{ title: 'Goats', text: long }]);
  });

  it.each([
    ['messages with roles', { title: 'T', messages: [{ role: 'assistant', content: long }] }],
    ['senders and text', [{ name: 'T', chat_messages: [{ sender: 'assistant', text: long }] }]],
    [
      'content parts',
      { conversations: [{ title: 'T', messages: [{ role: 'model', content: [{ type: 'text', text: long }] }] }] },
    ],
    ['a named model', { title: 'T', messages: [{ sender: 'Grok 3', message: long }] }],
  ])('reads %s', (_, value) => {
    expect(isChatExport(value)).toBe(true);
    expect(readChatExport(value, 10).texts).toEqual([{ title: 'T', text: long }]);
  });

  it('reads a bare list of messages', () => {
    const value = [
      { role: 'user', content: longer },
      { role: 'assistant', content: long },
    ];
    expect(readChatExport(value, 10).texts).toEqual([{ title: undefined, text: long }]);
  });

  it('passes over what is malformed within a conversation', () => {
    const messages = [null, 5, {}, { role: 'assistant' }, { role: 'assistant', content: long }];
    expect(readChatExport({ messages }, 10)).toMatchObject({ texts: [{ text: long }], answers: 2 });
  });
});

describe('isChatExport', () => {
  it.each([[[{ text: 'one' }]], [['one']], [[]], [{ title: 'text' }], [5], [null]])('is not %j', (value) => {
    expect(isChatExport(value)).toBe(false);
  });
});

describe('parseTexts of a chat export', () => {
  it('takes long answers as texts', () => {
    const content = JSON.stringify([{ title: 'Ferries', mapping }]);
    expect(parseTexts('chat.json', content, { minWords: 20 }).texts).toEqual([
      { id: 'ferries', title: 'Ferries', text: longer, source: 'chat.json' },
    ]);
    const line = JSON.stringify({ messages: [{ role: 'assistant', content: longer }] });
    expect(parseTexts('chat.jsonl', line, { minWords: 20 }).texts).toHaveLength(1);
  });

  it('says when no answer is long enough', () => {
    const content = JSON.stringify([{ title: 'Ferries', mapping }]);
    expect(parseTexts('chat.json', content).faults.map(describeFault)).toEqual([
      'chat.json: expected an assistant message of at least 50 words, got 3 shorter ones; conversations to train on are imported for the task "conversation"',
    ]);
  });
});
