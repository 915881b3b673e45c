import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCompletions } from '../../../main/services/reward-trials/completions-file.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { lines } from '../tasks/task-folder.ts';

const TALK = "title: T\nfields: { messages: messages }\nprompt: '{messages}'\nsuccess_threshold: 1\n";
const TOOLS = `title: T
fields: { question: text }
prompt: '{question}'
max_completion_length: 9
success_threshold: 1
tools: [{ name: add, description: The sum. }]
`;

function read(definition: string, line: object) {
  const files = { 'tools.ts': 'export const add = () => 1;' };
  const task = openTask({ name: 'x', folder: 'x', definition, reward: '', files }, '');
  const path = join(temporaryFolder(), 'completions.jsonl');
  writeFileSync(path, lines(line));
  return readCompletions(path, task)[0]?.answer;
}

describe('readCompletions', () => {
  it("takes messages beside a completion for the record's own", () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const answer = read(TALK, { messages, completion: 'Hello' });
    expect(answer).toMatchObject({ record: { messages }, completion: 'Hello' });
    expect(answer?.messages).toBeUndefined();
  });

  it("reads turns with calls in OpenAI's form", () => {
    const call = (given: unknown) => ({ id: 'c1', type: 'function', function: { name: 'add', arguments: given } });
    const said = { role: 'assistant', content: null };
    const result = { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: '3' }] };
    const turns = [{ ...said, tool_calls: [call('{"a": 1}')] }, result, { role: 'assistant', content: '3' }];
    expect(read(TOOLS, { question: 'q', messages: turns })?.messages).toEqual([
      { ...said, tool_calls: [call({ a: 1 })] },
      { ...result, content: '3' },
      { role: 'assistant', content: '3' },
    ]);
  });

  it.each([
    [[{ role: 'system', content: 'x' }], 'to be what followed the prompt'],
    [[], 'to be what followed the prompt'],
    [[{ role: 'assistant', content: 3 }], 'expected "messages[0].content" to be a text, got 3'],
  ])('says what is wrong with %j', (messages, reason) => {
    expect(() => read(TOOLS, { question: 'q', messages })).toThrow(reason);
  });
});
