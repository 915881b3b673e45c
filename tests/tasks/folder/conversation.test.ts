import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../main/tasks/folder/definition.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { brokenConversations } from './broken-conversations.ts';

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
    [
      "OpenAI's Responses",
      {
        messages: [
          { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
          { role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
        ],
      },
    ],
    ['words beside parts', { messages: [user, { ...said, parts: [{ type: 'step-start' }] }] }],
    ['null beside it', { messages: [{ ...user, tool_calls: null, name: null }, said], images: [] }],
  ])('is read as %s write it', (_, record) => {
    expect(read(record)).toEqual({ messages: [user, said], prompt: 'Hi', target: 'Hello' });
  });

  it('keeps of a turn that it is not trained on', () => {
    const left = { ...said, weight: 0 };
    expect(read({ messages: [user, left, { ...user, weight: 0 }, { ...said, weight: 1 }] }).messages).toEqual([
      ...[user, left],
      ...[user, said],
    ]);
    for (const mark of ['training', 'train', 'loss'])
      expect(read({ messages: [user, { ...said, [mark]: false }, user, { ...said, [mark]: true }] }).messages).toEqual([
        ...[user, left],
        ...[user, said],
      ]);
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

  it('has the calls, results and thoughts of parts as Anthropic writes them', () => {
    const parts = [
      { type: 'thinking', thinking: 'Add.', signature: 'x' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } },
    ];
    const results = [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '1' }] }];
    const record = task.parseRecord({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [user, { role: 'assistant', content: parts }, { role: 'user', content: results }, said],
      tools: [{ name: 'add', description: 'The sum.', input_schema: { type: 'object' } }],
    });
    expect(record.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      user,
      { ...said, tool_calls: [call], reasoning_content: 'Add.' },
      result,
      said,
    ]);
    expect(task.tools?.(record)).toEqual([
      { type: 'function', function: { name: 'add', description: 'The sum.', parameters: { type: 'object' } } },
    ]);
    const talks = [{ ...user, content: [...results, { type: 'text', text: 'Well?' }] }];
    expect(read({ messages: [user, called, ...talks] }).messages?.slice(2)).toEqual([
      result,
      { ...user, content: 'Well?' },
    ]);
  });

  it('says that a call failed as Braid itself does, where Anthropic or LangChain only marks it', () => {
    const failed = { ...result, content: '{"error":"no such city"}' };
    const marked = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'c1', content, is_error: true });
    for (const given of ['no such city', [{ type: 'text', text: 'no such city' }], failed.content])
      expect(read({ messages: [user, called, { ...user, content: [marked(given)] }, said] }).messages?.[2]).toEqual(
        failed,
      );
    const tool = { type: 'tool', content: 'no such city', tool_call_id: 'c1', status: 'error' };
    expect(read({ messages: [user, called, tool, said] }).messages?.[2]).toEqual(failed);
  });

  it("has the items of a turn of OpenAI's Responses as one message, with their functions", () => {
    const input = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Add.' }], encrypted_content: 'x' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'add', arguments: '{"a": 1}' },
      { type: 'function_call', call_id: 'c2', name: 'add', arguments: '{"a": 2}' },
      { type: 'function_call_output', call_id: 'c1', output: '1' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: '2' }] },
    ];
    const output = [
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] },
    ];
    const tools = [{ type: 'function', name: 'add', description: 'The sum.', parameters: { type: 'object' } }];
    const record = task.parseRecord({ instructions: 'Be brief.', input, output, tools });
    const second = { ...call, id: 'c2', function: { name: 'add', arguments: { a: 2 } } };
    expect(record.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      user,
      { ...said, tool_calls: [call, second], reasoning_content: 'Add.' },
      ...[result, { ...result, content: '2', tool_call_id: 'c2' }],
      said,
    ]);
    expect(task.tools?.(record)).toEqual([
      { type: 'function', function: { name: 'add', description: 'The sum.', parameters: { type: 'object' } } },
    ]);
    expect(read({ input: 'Hi', output }).messages).toEqual([user, said]);
  });

  it('has the messages of LangChain, however they were dumped', () => {
    const given = { name: 'add', args: { a: 1 }, id: 'c1', type: 'tool_call' };
    const dumped = [
      ['human', 'HumanMessage', { content: 'Hi', additional_kwargs: {}, name: null }],
      ['ai', 'AIMessage', { content: '', tool_calls: [given], invalid_tool_calls: [] }],
      ['tool', 'ToolMessage', { content: '1', tool_call_id: 'c1', artifact: null, status: 'success' }],
      ['AIMessageChunk', 'AIMessageChunk', { content: 'Hello', tool_calls: [], additional_kwargs: {} }],
    ] as const;
    const id = ['langchain', 'schema', 'messages'];
    for (const messages of [
      dumped.map(([type, , data]) => ({ type, data: { ...data, type } })),
      dumped.map(([type, name, data]) => ({
        lc: 1,
        type: 'constructor',
        id: [...id, name],
        kwargs: { ...data, type },
      })),
      dumped.map(([type, , data]) => ({ ...data, type })),
    ])
      expect(read({ messages }).messages).toEqual([user, called, result, said]);
    const older = { content: '', additional_kwargs: { tool_calls: [{ ...call, id: 'c1' }] } };
    expect(read({ messages: [user, { type: 'ai', data: older }] }).messages?.[1]?.tool_calls).toEqual([call]);
  });

  it("has Gemini's contents, with its functions", () => {
    const contents = [
      { parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { text: 'Add.', thought: true },
          { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'x' },
        ],
      },
      { role: 'user', parts: [{ function_response: { name: 'add', response: { result: 1 } } }] },
      { role: 'model', parts: [{ text: 'Hel' }, { text: 'lo' }] },
    ];
    const schema = { type: 'OBJECT', properties: { type: { type: 'STRING' } } };
    const tools = [{ functionDeclarations: [{ name: 'add', parameters: schema }] }];
    const record = task.parseRecord({ systemInstruction: { parts: [{ text: 'Be brief.' }] }, contents, tools });
    const { id: _, ...unnamed } = call;
    expect(record.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      user,
      { ...called, tool_calls: [unnamed], reasoning_content: 'Add.' },
      { role: 'tool', content: '{"result":1}', name: 'add' },
      said,
    ]);
    const parameters = { type: 'object', properties: { type: { type: 'string' } } };
    expect(task.tools?.(record)).toEqual([{ type: 'function', function: { name: 'add', parameters } }]);
  });

  it('keeps thoughts by any of their names', () => {
    for (const name of ['reasoning_content', 'reasoning', 'thinking'])
      expect(read({ messages: [user, { ...said, [name]: 'Greet.' }] }).messages?.[1]).toEqual({
        ...said,
        reasoning_content: 'Greet.',
      });
  });

  it('has results of calls in words, and lists that are JSON in a text', () => {
    const inWords = { role: 'assistant', content: '[add(a=1)]' };
    const plain = { role: 'tool', content: '1' };
    expect(read({ messages: [user, inWords, plain, said] }).messages).toEqual([user, inWords, plain, said]);
    const asText = { ...called, tool_calls: JSON.stringify([call]) };
    expect(read({ messages: [user, asText, result], tools: '[]' }).messages).toEqual([user, called, result]);
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

  it.each(brokenConversations)('is refused with %s', (_, record, reason) => {
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
