import { describe, expect, it } from 'vitest';
import { readToolCalls, wordsBeforeCalls } from '../../../main/model/tool-calls/read.ts';

const call = (name: string, given: object) => ({ type: 'function', function: { name, arguments: given } });
const WEATHER = call('weather', { city: 'Bern' });
const TIME = call('time', { zone: 1 });

describe('readToolCalls', () => {
  it.each([
    ['Qwen', 'Let me see.\n<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>', [WEATHER]],
    [
      'Hermes, two',
      'Let me see.<tool_call>{"arguments": {"city": "Bern"}, "name": "weather"}</tool_call>\n<tool_call>{"name": "time", "arguments": "{\\"zone\\": 1}"}</tool_call>',
      [WEATHER, TIME],
    ],
    [
      'SmolLM2, a list',
      'Let me see.<tool_call>[{"name": "weather", "arguments": {"city": "Bern"}}, {"name": "time", "arguments": {"zone": 1}}]</tool_call>',
      [WEATHER, TIME],
    ],
    [
      'Qwen3-Coder',
      'Let me see.\n<tool_call>\n<function=weather>\n<parameter=city>\nBern\n</parameter>\n</function>\n</tool_call>',
      [WEATHER],
    ],
    ['Mistral', 'Let me see.[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Bern"}}]', [WEATHER]],
    [
      'Mistral since 2025',
      'Let me see.[TOOL_CALLS]weather[ARGS]{"city": "Bern"}[TOOL_CALLS]time{"zone": 1}',
      [WEATHER, TIME],
    ],
    ['Llama after its tag', 'Let me see.<|python_tag|>{"name": "weather", "parameters": {"city": "Bern"}}', [WEATHER]],
  ])('reads those of %s', (_, text, calls) => {
    expect(readToolCalls(text, [])).toEqual({ content: 'Let me see.', calls, problem: null });
  });

  it('takes JSON alone as calls of the functions that there are, and as words otherwise', () => {
    const text = '{"name": "weather", "parameters": {"city": "Bern"}}; {"name": "time", "parameters": {"zone": 1}}';
    expect(readToolCalls(text, ['weather', 'time'])).toMatchObject({ content: '', calls: [WEATHER, TIME] });
    for (const words of [text, '{"name": 1}', '{not JSON', 'no calls'])
      expect(readToolCalls(words, ['weather'])).toEqual({ content: words, calls: [], problem: null });
  });

  it('leaves what it cannot read in the words, and says why', () => {
    for (const inside of ['{"name": ', '{"arguments": {}}', '{"name": "weather", "arguments": [1]}']) {
      const text = `x <tool_call>${inside}</tool_call>`;
      expect(readToolCalls(text, ['weather'])).toMatchObject({ content: text, calls: [], problem: expect.any(String) });
    }
  });
});

describe('wordsBeforeCalls', () => {
  it('holds back what may begin calls', () => {
    expect(wordsBeforeCalls('Let me see. <tool')).toBe('Let me see. '.length);
    expect(wordsBeforeCalls('Let me see. <tool_call>{')).toBe('Let me see. '.length);
    expect(wordsBeforeCalls('a <b')).toBe(4);
    expect(wordsBeforeCalls('a [TOOL_CALL')).toBe(2);
    expect(wordsBeforeCalls(' ')).toBe(0);
    expect(wordsBeforeCalls(' {"name"')).toBe(0);
  });
});
