import { describe, expect, it } from 'vitest';
import { readToolCalls, toolCallForm } from '../../main/model/tool-calls.ts';

const call = (name: string, args: object, id?: string) => ({
  call: { ...(id !== undefined && { id }), type: 'function', function: { name, arguments: args } },
});

describe('readToolCalls', () => {
  it('reads the calls of Hermes and Qwen, and what stands around them', () => {
    const text =
      'Let me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>';
    expect(readToolCalls(text, 'marked')).toEqual({
      content: 'Let me see.',
      calls: [call('add', { a: 1, b: 2 }), call('now', {})],
    });
  });

  it("reads Qwen3.5's functions, whose arguments may be JSON or a text over several lines", () => {
    const text =
      '<tool_call>\n<function=run>\n<parameter=times>\n3\n</parameter>\n<parameter=code>\nlet a = 1;\nlet b = 2;\n</parameter>\n</function>\n</tool_call>';
    expect(readToolCalls(text, 'marked').calls).toEqual([call('run', { times: 3, code: 'let a = 1;\nlet b = 2;' })]);
  });

  it("reads SmolLM2's list, Mistral's lists and names, and OpenAI's form", () => {
    expect(
      readToolCalls(
        '<tool_call>[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {"x": 1}}]</tool_call>',
        'marked',
      ).calls,
    ).toEqual([call('a', {}), call('b', { x: 1 })]);
    expect(
      readToolCalls('[TOOL_CALLS] [{"name": "a", "arguments": {"x": 1}, "id": "abcdef123"}]', 'marked').calls,
    ).toEqual([call('a', { x: 1 }, 'abcdef123')]);
    expect(readToolCalls('So:[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]b[CALL_ID]i1[ARGS]{}', 'marked')).toEqual({
      content: 'So:',
      calls: [call('a', { x: 1 }), call('b', {})],
    });
    const openai =
      '<tool_call>{"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{\\"x\\": 1}"}}</tool_call>';
    expect(readToolCalls(openai, 'marked').calls).toEqual([call('a', { x: 1 }, 'c1')]);
  });

  it("reads Llama 3's turn that is a call, and takes JSON for an answer elsewhere", () => {
    const text = '{"name": "add", "parameters": {"a": 1}}';
    expect(readToolCalls(text, 'json').calls).toEqual([call('add', { a: 1 })]);
    expect(readToolCalls(`<|python_tag|>${text}; ${text}`, 'json').calls).toHaveLength(2);
    expect(readToolCalls(text, 'marked')).toEqual({ content: text, calls: [] });
    expect(readToolCalls('{"year": 1990}', 'json')).toEqual({ content: '{"year": 1990}', calls: [] });
  });

  it.each([
    ['<tool_call>{"name": "a"', 'expected </tool_call> after the call, got none'],
    [
      '<tool_call>{"name": "a", }</tool_call>',
      'expected a JSON object with "name" and "arguments", got {"name": "a", }',
    ],
    ['<tool_call>{"arguments": {}}</tool_call>', 'expected the tool\'s "name", got none'],
    [
      '<tool_call>{"name": "a", "arguments": [1]}</tool_call>',
      'expected the "arguments" of a to be an object, got [1]',
    ],
    ['<tool_call>7</tool_call>', 'expected an object with "name" and "arguments", got 7'],
    ['<tool_call><function=a><parameter=x>1</tool_call>', 'expected <function=NAME> … </function>'],
  ])('says what is wrong with %s', (text, fault) => {
    expect(readToolCalls(text, 'marked').calls).toEqual([{ fault }]);
  });
});

describe('toolCallForm', () => {
  it('goes by the chat template', () => {
    expect(toolCallForm('{{ "<tool_call>" }}')).toBe('marked');
    expect(toolCallForm('{{ "[TOOL_CALLS]" }}')).toBe('marked');
    expect(toolCallForm('Respond in the format {"name": function name, "parameters": …}')).toBe('json');
    expect(toolCallForm(null)).toBe('marked');
  });
});
