import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { toolFindings } from '../../main/tasks/tool-use.ts';

const result = (name: string, content: string): ChatMessage => ({ role: 'tool', name, content });
const failed = (name: string): ChatMessage => result(name, '{"error":"no"}');

describe('toolFindings', () => {
  it('says which tools are never called, or always fail', () => {
    const conversations = [[result('price', '2'), failed('sum')], [failed('sum'), failed('price')], []];
    expect(toolFindings(['price', 'sum', 'find'], conversations)).toEqual([
      'The tool find is never called in 3 completions.',
      'All 2 calls of the tool sum failed.',
    ]);
  });

  it('says that nothing is called, or that most calls name no tool', () => {
    expect(toolFindings(['price'], [[], []])).toEqual(['No tool is called in 2 completions.']);
    expect(toolFindings(['price'], [[failed('pric'), failed('cost'), result('price', '1')]])).toEqual([
      "2 of 3 calls can't be read or name no tool of the task.",
    ]);
    expect(toolFindings([], [[]])).toEqual([]);
  });
});
