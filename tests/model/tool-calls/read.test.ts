import { describe, expect, it } from 'vitest';
import { keepingMarks } from '../../../main/model/tool-calls/flow.ts';
import { literalCalls } from '../../../main/model/tool-calls/literal-calls.ts';
import { readToolCalls, wordsBeforeCalls } from '../../../main/model/tool-calls/read.ts';

const call = (name: string, given: object) => ({ type: 'function', function: { name, arguments: given } });
const WEATHER = call('weather', { city: 'Bern' });
const TIME = call('time', { zone: 1 });
const tool = (name: string, properties: object = {}) => ({
  type: 'function',
  function: { name, parameters: { properties } },
});

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
    [
      'Phi-4-mini',
      'Let me see.<|tool_call|>[{"name": "weather", "arguments": {"city": "Bern"}}]<|/tool_call|>',
      [WEATHER],
    ],
    ['LFM2', `Let me see.<|tool_call_start|>[weather(city='Bern'), time(zone=1)]<|tool_call_end|>`, [WEATHER, TIME]],
    ['OLMo-3', 'Let me see.<function_calls>\nweather(city="Bern")\ntime(zone=1)\n</function_calls>', [WEATHER, TIME]],
    [
      'Gemma 4',
      'Let me see.<|tool_call>call:weather{city:<|"|>Bern<|"|>}<tool_call|><|tool_call>call:time{zone:1}<tool_call|>',
      [WEATHER, TIME],
    ],
    ['Llama after its tag', 'Let me see.<|python_tag|>{"name": "weather", "parameters": {"city": "Bern"}}', [WEATHER]],
  ])('reads those of %s', (_, text, calls) => {
    expect(readToolCalls(text, [])).toEqual({ content: 'Let me see.', calls, problem: null });
  });

  it('takes JSON alone as calls of the functions that there are, and as words otherwise', () => {
    const text = '{"name": "weather", "parameters": {"city": "Bern"}}; {"name": "time", "parameters": {"zone": 1}}';
    expect(readToolCalls(text, [tool('weather'), tool('time')])).toMatchObject({ content: '', calls: [WEATHER, TIME] });
    for (const words of [text, '{"name": 1}', '{not JSON', 'no calls'])
      expect(readToolCalls(words, [tool('weather')])).toEqual({ content: words, calls: [], problem: null });
  });

  it('takes calls in thoughts for thoughts', () => {
    const call = '<tool_call>{"name": "weather", "arguments": {"city": "Bern"}}</tool_call>';
    const thoughts = `<think>A <tool_call> of time? {"name": "time"}</think>\n`;
    expect(readToolCalls(`${thoughts}${call}`, [])).toMatchObject({ content: thoughts.trim(), calls: [WEATHER] });
    expect(readToolCalls(`A <tool_call>?</think>${call}`, []).calls).toEqual([WEATHER]);
    const bare = `${thoughts}{"name": "weather", "parameters": {"city": "Bern"}}`;
    expect(readToolCalls(bare, [tool('weather')]).calls).toEqual([WEATHER]);
    for (const words of [`${thoughts}No.`, `<think>${call}`, '<tool_call>[]</tool_call>'])
      expect(readToolCalls(words, [])).toEqual({ content: words, calls: [], problem: null });
  });

  it('reads an argument in tags as the function wants it, and each function by itself', () => {
    const text =
      '<tool_call>\n<function=weather>\n<parameter=city>\n123\n<parameter=days>\n2\n</parameter>\n</function>\n' +
      '<function=time>\n<parameter=zone>\n1\n</parameter>\n</function>\n</tool_call>';
    const tools = [tool('weather', { city: { type: 'string' }, days: { type: 'number' } })];
    expect(readToolCalls(text, tools).calls).toEqual([call('weather', { city: '123', days: 2 }), TIME]);
  });

  it("reads Python's words and one of several types as the function wants them", () => {
    const text = (value: string): string =>
      `<tool_call><function=weather><parameter=x>\n${value}\n</parameter></function></tool_call>`;
    const read = (value: string, schema?: object): unknown =>
      readToolCalls(text(value), [tool('weather', { x: schema })]).calls[0]?.function.arguments.x;
    expect([read('True', { type: 'boolean' }), read('None'), read('False', { type: 'string' })]).toEqual([
      ...[true, null],
      'False',
    ]);
    const optional = { anyOf: [{ type: 'string' }, { type: 'null' }] };
    expect([read('12', optional), read('null', optional), read('12', { type: ['string', 'integer'] })]).toEqual([
      ...['12', null],
      12,
    ]);
  });

  it('keeps every digit of a whole number that no number holds', () => {
    const id = '1234567890123456789';
    for (const text of [
      `<tool_call>{"name": "time", "arguments": {"zone": ${id}}}</tool_call>`,
      `<tool_call>{"name": "time", "arguments": "{\\"zone\\": ${id}}"}</tool_call>`,
      `[TOOL_CALLS]time[ARGS]{"zone": ${id}}`,
      `<tool_call><function=time><parameter=zone>${id}</parameter></function></tool_call>`,
      `<|tool_call_start|>[time(zone=${id})]<|tool_call_end|>`,
    ])
      expect(readToolCalls(text, []).calls).toEqual([call('time', { zone: id })]);
  });

  it('takes no arguments in a text for none', () => {
    expect(readToolCalls('<tool_call>{"name": "time", "arguments": ""}</tool_call>', []).calls).toEqual([
      call('time', {}),
    ]);
  });

  it("keeps the ids of Mistral's calls, by which its models know the results", () => {
    const id = 'VvvODy9mT';
    const list = `[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Bern"}, "id": "${id}"}]`;
    const named = `[TOOL_CALLS]weather[CALL_ID]${id}[ARGS]{"city": "Bern"}`;
    for (const text of [list, named]) expect(readToolCalls(text, []).calls).toEqual([{ ...WEATHER, id }]);
    expect(readToolCalls(list.replace(id, 'x'), []).calls).toEqual([WEATHER]);
  });

  it("reads Llama's calls with semicolons and braces in their texts, and refuses programs", () => {
    const first = call('weather', { city: '"}; {' });
    const json = JSON.stringify({ name: 'weather', parameters: first.function.arguments });
    for (const between of ['; ', '\n'])
      expect(
        readToolCalls(`<|python_tag|>${json}${between}{"name": "time", "parameters": {"zone": 1}}`, []).calls,
      ).toEqual([first, TIME]);
    expect(readToolCalls('<|python_tag|>search(query="x")', []).problem).toMatch(/JSON/);
  });

  it('leaves what it cannot read in the words, and says why', () => {
    for (const inside of [
      '{"name": ',
      '{"arguments": {}}',
      `{"name": "weather", "arguments": ${'{"a":'.repeat(600)}1${'}'.repeat(601)}`,
      '{"name": "weather", "arguments": [1]}',
    ]) {
      const text = `x <tool_call>${inside}</tool_call>`;
      expect(readToolCalls(text, [tool('weather')])).toMatchObject({
        content: text,
        calls: [],
        problem: expect.any(String),
      });
    }
  });

  it.each([
    ['white space', `<|tool_call_start|>${' '.repeat(60_000)}`],
    ['a quoted text without an end', `{${'"\\'.repeat(60_000)}`],
    ['names without an end', `<tool_call><function=a>${'<parameter='.repeat(20_000)}</tool_call>`],
  ])('reads %s once, not from each of its places', (_, text) => {
    const began = performance.now();
    readToolCalls(text, [tool('weather')]);
    expect(performance.now() - began).toBeLessThan(1000);
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

describe('literalCalls', () => {
  it('reads literals of Python and JSON, lists and dictionaries', () => {
    expect(literalCalls(`[f(a='it\\'s', b="\\u00e9\\n", c=[-1.5, True, null], d={'k': {"q": 2e3}}), g()]`)).toEqual([
      { name: 'f', given: { a: "it's", b: 'é\n', c: [-1.5, true, null], d: { k: { q: 2000 } } } },
      { name: 'g', given: {} },
    ]);
    expect(literalCalls('call:f{a:<|"|>b, "c"}<|"|>,o:{k:[<|"|>x<|"|>]}}')).toEqual([
      { name: 'f', given: { a: 'b, "c"}', o: { k: ['x'] } } },
    ]);
  });

  it.each(['f(', 'f(1)', 'f(a=g())', "f(a='b", 'f(a=1 b=2)', 'f{a:<|"|>b', `f(a=${'['.repeat(600)}`, 'f'])(
    'refuses %s',
    (text) => {
      expect(() => literalCalls(text)).toThrow(/expected|nested/);
    },
  );
});

describe('keepingMarks', () => {
  it('keeps what parts and ends calls where it is a control token', () => {
    const tokens = ['[TOOL_CALLS]', 'time', '[CALL_ID]', 'VvvODy9mT', '[ARGS]', '{"zone": 1}', '</s>'];
    const { decode } = keepingMarks({
      tokenId: (token) => (tokens.includes(token) ? tokens.indexOf(token) : undefined),
      decode: (ids) =>
        ids
          .map((id) => tokens[id] ?? '')
          .filter((token) => !/^[[<]/.test(token))
          .join(''),
    });
    const text = decode([...tokens.keys()]);
    expect(readToolCalls(text, []).calls).toEqual([{ ...TIME, id: 'VvvODy9mT' }]);
  });
});
