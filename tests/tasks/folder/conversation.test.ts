import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../main/tasks/folder/definition.ts';
import { openTask } from '../../../main/tasks/index.ts';

const yaml = `title: Conversation
fields: { messages: messages }
prompt: '{messages}'
success_threshold: 1
`;
const task = openTask({ name: 'talk', folder: 'talk', definition: yaml, reward: '' }, '');
const user = { role: 'user', content: 'Hi' };
const said = { role: 'assistant', content: 'Hello' };
const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: { a: 1 } } };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', content: '1', tool_call_id: 'c1' };

const read = (given: object) => {
  const record = task.parseRecord({ id: 'x', ...given });
  return { messages: record.messages, prompt: record.prompt, target: task.target(record) };
};

describe('a record with a conversation', () => {
  it('asks everything but the last turn of the assistant, which is the target', () => {
    const system = { role: 'system', content: 'Be brief.' };
    expect(read({ messages: [user, said] })).toEqual({ messages: [user, said], prompt: 'Hi', target: 'Hello' });
    expect(read({ messages: [system, user, said, user] })).toEqual({
      messages: [system, user, said, user],
      prompt: 'System: Be brief.\n\nUser: Hi\n\nAssistant: Hello\n\nUser: Hi\n\nAssistant:',
      target: '',
    });
    expect(read({ messages: [user, called] }).target).toBe('add({"a":1})');
  });

  it.each<[string, object]>([
    ['OpenAI', { messages: [{ ...user, weight: 1 }, said] }],
    ['text parts', { messages: [{ role: 'user', content: [{ type: 'text', text: 'H' }, 'i'] }, said] }],
    [
      'ShareGPT',
      {
        conversations: [
          { from: 'human', value: 'Hi' },
          { from: 'gpt', value: 'Hello' },
        ],
      },
    ],
    ['TRL', { prompt: [user], completion: [said] }],
    ['texts', { prompt: 'Hi', completion: 'Hello' }],
    ['preferences', { prompt: [user], chosen: [said], rejected: [user] }],
    ['the whole conversation chosen', { prompt: [user], chosen: [user, said] }],
    ['JSON in a text', { messages: JSON.stringify([user, said]) }],
    ['null beside it', { messages: [{ ...user, tool_calls: null, name: null }, said], images: [] }],
  ])('is read as %s write it', (_, record) => {
    expect(read(record)).toEqual({ messages: [user, said], prompt: 'Hi', target: 'Hello' });
  });

  it('has tool calls with arguments as objects, and their results', () => {
    const inText = { ...call, function: { ...call.function, arguments: '{"a": 1}' } };
    const conversation = [user, called, result, said];
    expect(read({ messages: [user, { ...called, tool_calls: [inText] }, result, said] }).messages).toEqual(
      conversation,
    );
    const shareGpt = [
      { from: 'human', value: 'Hi' },
      { from: 'function_call', value: '{"name": "add", "arguments": {"a": 1}}' },
      { from: 'observation', value: '1' },
    ];
    const { id: _, ...unnamed } = call;
    expect(read({ conversations: shareGpt }).messages).toEqual([
      user,
      { ...called, tool_calls: [unnamed] },
      { role: 'tool', content: '1' },
    ]);
    const older = [user, { role: 'assistant', content: null, function_call: { name: 'add', arguments: '{"a": 1}' } }];
    expect(read({ messages: older }).messages).toEqual([user, { ...called, tool_calls: [unnamed] }]);
    const tools = [{ type: 'function', function: { name: 'add', parameters: {} } }];
    expect(task.tools?.(task.parseRecord({ messages: [user], tools }))).toEqual(tools);
    expect(task.tools?.(task.parseRecord({ messages: [user], tools: JSON.stringify(tools) }))).toEqual(tools);
  });

  it("is opened by the task's system message where it has none, and quotes every text", () => {
    const moody = `${yaml.replace('s: messages }', 's: messages, mood: text? }')}system: Be {mood}.\n`;
    const strict = openTask({ name: 'a', folder: 'a', definition: moody, reward: '' }, '');
    const record = strict.parseRecord({ messages: [user, called, result, said], mood: 'kind' });
    expect(record.messages?.[0]).toEqual({ role: 'system', content: 'Be kind.' });
    expect(strict.quoted(record)).toEqual(expect.arrayContaining(['Hi', 'add', 'a', 'c1', '1', 'Hello']));
    const own = { role: 'system', content: 'Own.' };
    expect(strict.parseRecord({ messages: [own, user] }).messages).toEqual([own, user]);
  });

  const image = { type: 'image_url', image_url: { url: 'x' } };
  it.each<[string, object, string]>([
    ['nothing', {}, 'expected the field "messages" (messages), got none'],
    ['a number', { messages: 7 }, 'expected "messages" to be a list of messages {role, content}, got 7'],
    ['an object', { messages: user }, 'expected "messages" to be a list of messages'],
    ['no messages', { messages: [] }, 'expected "messages" to have at least one message, got none'],
    ['broken JSON', { messages: '[{"role": "user"' }, 'expected "messages" to be JSON'],
    ['a text in the list', { messages: ['Hi'] }, 'expected "messages[0]" to be a message {role, content}, got "Hi"'],
    ['no role', { messages: [{ content: 'Hi' }] }, 'expected "messages[0].role" to be system, user, assistant or tool'],
    ['an unknown role', { messages: [{ role: 'usr', content: '' }] }, 'got "usr"; did you mean "user"?'],
    ['a role that is a number', { messages: [{ role: 1, content: '' }] }, 'assistant or tool, got 1'],
    [
      'no content',
      { messages: [user, { role: 'assistant' }] },
      'expected "messages[1].content" to be a text, got none',
    ],
    ['content that is a number', { messages: [{ role: 'user', content: 3 }] }, 'to be a text, got 3'],
    ['a NUL character', { messages: [{ role: 'user', content: 'a\0' }] }, 'a text without NUL characters'],
    [
      'an image',
      { messages: [{ role: 'user', content: [image] }] },
      '"messages[0].content[0]" to be text, got "image_url"',
    ],
    [
      'audio',
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      'got "input_audio": models here read',
    ],
    [
      'an unknown part',
      { messages: [{ role: 'user', content: [{ text: 'x' }] }] },
      'to be a part {type: "text", text}',
    ],
    [
      'a column of images',
      { conversations: [{ from: 'human', value: '<image>' }], images: ['a.png'] },
      'it has "images"',
    ],
    [
      'calls of the user',
      { messages: [{ ...user, tool_calls: [call] }] },
      "to be the assistant's, got them of the user",
    ],
    ["calls that aren't a list", { messages: [user, { ...said, tool_calls: call }] }, 'to be a list of calls'],
    [
      'a call without a name',
      { messages: [user, { ...said, tool_calls: [{ function: {} }] }] },
      'tool_calls[0]" to be a call',
    ],
    [
      "arguments that aren't JSON",
      { messages: [user, { ...said, tool_calls: [{ function: { name: 'f', arguments: '{a' } }] }] },
      'expected "messages[1].tool_calls[0].function.arguments" to be JSON, got "{a"',
    ],
    [
      "arguments that aren't an object",
      { messages: [user, { ...said, tool_calls: [{ function: { name: 'f', arguments: '[1]' } }] }] },
      'to be an object, got [1]',
    ],
    ['a result without a call', { messages: [user, result] }, '"messages[1]" to answer a call, got none before it'],
    [
      'a result of another call',
      { messages: [user, called, { ...result, tool_call_id: 'c2' }] },
      'expected "messages[2].tool_call_id" to be one of c1, got "c2"',
    ],
    [
      'a late system message',
      { messages: [user, { role: 'system', content: '' }, user] },
      '"messages[1]" not to be of the system',
    ],
    ['the system alone', { messages: [{ role: 'system', content: 'x' }] }, 'to have a message of the user'],
    ['an answer alone', { messages: [said] }, 'to have a message of the user, got none'],
    ['an empty last turn', { messages: [user, { ...said, content: ' ' }] }, '"messages[1].content" to say something'],
    ["tools that aren't a list", { messages: [user], tools: { a: 1 } }, 'expected "tools" to be a list of functions'],
    [
      'a tool without a name',
      { messages: [user], tools: [{ type: 'function' }] },
      'expected "tools[0]" to be {type: "function"',
    ],
    ["a call that isn't JSON", { conversations: [{ from: 'function_call', value: 'add(1)' }] }, 'to be a call in JSON'],
  ])('is refused with %s', (_, record, reason) => {
    expect(() => task.parseRecord(record)).toThrow(reason);
  });
});

describe('a task of conversations', () => {
  const faultOf = (text: string): string => {
    try {
      parseDefinition('task.yaml', text);
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('has the conversation as its whole prompt, under any name', () => {
    for (const name of ['messages', 'prompt', 'conversations', 'talk'])
      expect(faultOf(yaml.replaceAll('messages: m', `${name}: m`).replace('{messages}', `{${name}}`))).toBe('none');
    expect(faultOf(yaml.replace("'{messages}'", "'Answer {messages}'"))).toContain(
      'expected `prompt: \'{messages}\'` alone with "messages"',
    );
    expect(faultOf(yaml.replace('messages: messages', 'messages: text'))).toContain(
      'only a conversation can be called',
    );
  });
});
