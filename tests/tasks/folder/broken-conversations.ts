/** Records whose conversation is wrong in one place: what is wrong, the record, and what a message has to say. */
const user = { role: 'user', content: 'Hi' };
const said = { role: 'assistant', content: 'Hello' };
const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: { a: 1 } } };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', content: '1', tool_call_id: 'c1' };
const image = { type: 'image_url', image_url: { url: 'x' } };

export const brokenConversations: readonly (readonly [what: string, record: object, reason: string])[] = [
  ['nothing', {}, 'expected the field "messages" (messages), got none'],
  ['a number', { messages: 7 }, 'expected "messages" to be a list of messages {role, content}, got 7'],
  ['an object', { messages: user }, 'expected "messages" to be a list of messages'],
  ['no messages', { messages: [] }, 'expected "messages" to have at least one message, got none'],
  ['broken JSON', { messages: '[{"role": "user"' }, 'expected "messages" to be JSON'],
  ['a text in the list', { messages: ['Hi'] }, 'expected "messages[0]" to be a message {role, content}, got "Hi"'],
  ['no role', { messages: [{ content: 'Hi' }] }, 'expected "messages[0].role" to be system, user, assistant or tool'],
  ['an unknown role', { messages: [{ role: 'usr', content: '' }] }, 'got "usr"; did you mean "user"?'],
  ['a role that is a number', { messages: [{ role: 1, content: '' }] }, 'assistant or tool, got 1'],
  ['no content', { messages: [user, { role: 'assistant' }] }, 'expected "messages[1].content" to be a text, got none'],
  ['content that is a number', { messages: [{ role: 'user', content: 3 }] }, 'to be a text, got 3'],
  [
    'half a weight',
    { messages: [user, { ...said, weight: 0.5 }] },
    '"messages[1].weight" to be 0 (not trained on) or 1, got 0.5',
  ],
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
  ['an unknown part', { messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'to be a part {type: "text", text}'],
  [
    "a picture among Gemini's parts",
    { messages: [{ parts: [{ inlineData: { mimeType: 'image/png' } }] }] },
    'got "image/png"',
  ],
  [
    'parts of a kind that none of the forms has',
    { messages: [user, { role: 'assistant', parts: [{ type: 'reasoning', text: 'Add.' }] }] },
    '"messages[1].content[0]" to be a part {type: "text", text}, got {"type":"reasoning"',
  ],
  [
    'code that Gemini ran',
    { messages: [{ parts: [{ executableCode: {} }] }] },
    '"messages[0].content[0]" to be a part',
  ],
  [
    "a search of OpenAI's Responses",
    { messages: [user, { type: 'web_search_call', id: 'w' }] },
    'expected "messages[1]" to be a message, a function call, its output or reasoning, got "web_search_call"',
  ],
  [
    'a call that LangChain could not read',
    { messages: [user, { type: 'ai', data: { content: '', invalid_tool_calls: [{ name: 'add', args: '{"a":' }] } }] },
    '"messages[1].tool_calls[0].function.arguments" to be JSON, got "{\\"a\\":"',
  ],
  [
    'a column of images',
    { conversations: [{ from: 'human', value: '<image>' }], images: ['a.png'] },
    'it has "images"',
  ],
  ['calls of the user', { messages: [{ ...user, tool_calls: [call] }] }, "to be the assistant's, got them of the user"],
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
    'arguments that no number holds',
    {
      messages: [user, { ...said, tool_calls: [{ function: { name: 'f', arguments: '{"a":12345678901234567890}' } }] }],
    },
    '"messages[1].tool_calls[0].function.arguments": 12345678901234567890 inside a list or object is more than',
  ],
  [
    'messages in a text with such a number',
    { messages: '[{"role":"user","content":"","x":12345678901234567890}]' },
    '"messages": 12345678901234567890 inside',
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
];
