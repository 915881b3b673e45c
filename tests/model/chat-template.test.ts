import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  quotedMessage,
  type RenderedMessage,
  readChatTemplate,
  renderChat,
  renderMessages,
  templateReads,
  tokenText,
} from '../../main/model/chat-template.ts';
import { plain, quote } from '../../main/model/jinja/text.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';

const render = (template: string, config: Record<string, unknown> = {}): string =>
  renderChat(template, [{ role: 'user', content: 'Hi' }], config, 'the folder');

describe('renderChat', () => {
  it('pins every way to get the date', () => {
    expect(render('{{ date_string }}')).toBe('26 Jul 2024');
    expect(render("{{ strftime_now('%d %B %Y, %A %H:%M %% %Q') }}")).toBe('26 July 2024, Friday 00:00 % %Q');
  });

  // As Python's strftime says it of that day.
  it('knows the directives without leading zeros', () => {
    expect(render("{{ strftime_now('%-d.%-m.%y %-H:%M %c %j %U %V %f') }}")).toBe(
      '26.7.24 0:00 Fri Jul 26 00:00:00 2024 208 29 30 000000',
    );
    expect(fault(() => render("{{ strftime_now('%_d') }}"))[1]).toContain('"%_d" of strftime_now()');
  });

  it('passes special tokens, from text or objects, and empty ones if there are none', () => {
    const config = { bos_token: { content: '<s>', lstrip: false }, pad_token: '<pad>', unk_token: null };
    expect(render('{{ bos_token }}|{{ pad_token }}|{{ eos_token }}', config)).toBe('<s>|<pad>|');
    expect(render('{{ unk_token is defined }}', config)).toBe('False');
  });

  it('takes any number of arguments', () => {
    expect(render('{% macro m() %}{{ varargs|length }}{% endmacro %}{{ m(*range(5000)) }}')).toBe('5000');
  });

  it('knows range, none and tools', () => {
    const counted = '{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 1, -2) %}{{ i }}{% endfor %}';
    expect(render(counted)).toBe('01253');
    expect(render('{{ tools is none }}')).toBe('True');
  });

  it('renders tool calls as they are, leaves null content out, and has the functions that may be called', () => {
    const messages: readonly ChatMessage[] = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: { a: 1, b: 'two' } } }],
      },
      { role: 'tool', content: '3', tool_call_id: 'c1', name: 'add' },
    ];
    const template = [
      '{{ tools | tojson }}|{% for m in messages %}{{ m.role }} {{ m.content is defined }} {{ m.tool_calls is defined }}',
      ' {{ m.tool_calls | tojson if m.tool_calls else m.tool_call_id ~ m.name }}|{% endfor %}',
    ].join('');
    const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }];
    const rendered = (shown: readonly RenderedMessage[]): string =>
      plain(renderMessages({ template, config: {}, folder: 'the folder', kwargs: {} }, shown, true, tools));
    const text =
      '[{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]|' +
      'assistant False True [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": "two"}}}]|' +
      'tool True False c1add|';
    expect(rendered(messages)).toBe(text);
    expect(rendered(messages.map((message) => quotedMessage(message, (words) => quote(words, 0))))).toBe(text);
  });

  // Texts as transformers 5.18 renders these.
  it.each([
    ["{{ '\\n\\n  a\\n '.lstrip('\\n') }}|", '  a\n |'],
    ["{{ '\\n a \\n'.strip('\\n') }}|{{ 'a]-^b-]'.rstrip(']-^b') }}|", ' a |a|'],
    ["{{ '\\ufeff a\\x85 \\x1c'.strip() }}|{{ ' a\\ufeff ' | trim }}|", '\ufeff a|a\ufeff|'],
    ["{{ ' a '.lstrip() }}|{{ ' a '.rstrip() }}|{{ 'a'.strip('') }}|", 'a | a|a|'],
    ["{{ (' a ' | trim).strip('a') ~ '|' }}", '|'],
    ['{% if true %}\r\na\r\n{% endif %}\r\nb\r\n', 'a\nb'],
  ])('strips texts as Python does, and reads lines of any system: %j', (template, text) => {
    const given = template.replaceAll('\\ufeff', '\ufeff').replaceAll('\\x85', '\x85').replaceAll('\\x1c', '\x1c');
    expect(render(given)).toBe(text);
  });

  it.each([
    ["{{ raise_exception('roles must alternate') }}", 'roles must alternate'],
    ['{% for message in messages %}', 'the folder'],
    ['{{ nothing.at.all() }}', 'the folder'],
  ])('says why the template %s cannot be applied', (template, named) => {
    expect(fault(() => render(template))).toEqual(['CHAT_TEMPLATE_FAILED', expect.stringContaining(named)]);
  });
});

describe('a template that Jinja2 could render and we cannot', () => {
  it.each([
    ['\n{{ [1]|pprint }}', 'the filter "pprint"', 'line 2'],
    ["{% include 'x' %}", '{% include %}', 'line 1'],
    ['{{ 2 ** 0.5 }}', 'a power with fractions', 'line 1'],
    ['a\n\n{{ range }}', 'printing a function', 'line 3'],
    ["{{ ('<'|e).upper() }}", 'the attribute "upper" of an escaped text', 'line 1'],
  ])('is refused by name and line: %j', (template, named, line) => {
    const [code, message] = fault(() => render(template));
    expect([code, message]).toEqual(['CHAT_TEMPLATE_FAILED', expect.stringContaining(named)]);
    expect(message).toContain(line);
  });
});

describe('templateReads', () => {
  it('names the variables that come from outside', () => {
    const template =
      '{% set a = b %}{{ a }}{% for m in messages %}{{ m.role ~ c if d is defined }}{% endfor %}{{ range(2) }}';
    expect([...templateReads(template, 'f')].sort()).toEqual(['b', 'c', 'd', 'messages']);
  });
});

describe('a template that never ends', () => {
  const loop = (inner: string, depth: number): string =>
    depth === 0 ? inner : `{% for i${depth} in range(10000) %}${loop(inner, depth - 1)}{% endfor %}`;
  it.each([
    ['nested loops', loop('{{ 1 }}', 3), 'it takes more than'],
    ['a range without end', '{% for i in range(2000000000) %}{% endfor %}', 'a range of 2000000000 numbers'],
    ['a range of no number', "{% for i in range('x') %}{% endfor %}", 'cannot be interpreted as an integer'],
    ['a text that doubles', `{% set ns = namespace(s='x') %}${loop('{% set ns.s = ns.s ~ ns.s %}', 1)}`, ''],
    ['a macro that calls itself', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', ''],
    ['a long template', 'x'.repeat(200_001), 'has 200001 characters'],
    ['a run of spaces', `{% if a${' '.repeat(60_000)}`, ''],
    ['a text of megabytes', loop("{{ '0123456789' * 1000 }}", 1), 'texts and lists take more than'],
    [
      'a list that doubles',
      `{% set ns = namespace(s=[1]) %}${loop('{% set ns.s = ns.s + ns.s %}', 1)}`,
      'texts and lists',
    ],
    [
      'a number that doubles',
      `{% set ns = namespace(s=2) %}${loop('{% set ns.s = ns.s * ns.s %}', 1)}`,
      'such a large number',
    ],
    [
      'a list of itself twice, printed',
      `{% set ns = namespace(s=[]) %}${loop('{% set ns.s = [ns.s, ns.s] %}', 1)}{{ ns.s }}`,
      '',
    ],
    ['nested brackets', `{{ ${'['.repeat(90_000)}${']'.repeat(90_000)} }}`, 'nested too deeply'],
    ['a long sum', `{{ 1${'+1'.repeat(90_000)} }}`, 'nested too deeply'],
    ['a huge power', '{{ 9 ** (9 ** 9) }}', 'such a large number'],
    ['a wide format', "{{ '%999999999d' % 1 }}", 'a width of 999999999'],
    ['a long value, many times', "{{ ('%(a)s' * 50000) % {'a': 'x' * 50000} }}", 'texts and lists take more than'],
  ])('is ended: %s', (_, template, named) => {
    const began = performance.now();
    expect(fault(() => render(template))).toEqual(['CHAT_TEMPLATE_FAILED', expect.stringContaining(named)]);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

describe('a text of many parts', () => {
  // A search among all parts for each of them takes minutes at this length, and so do digits that can be read in two ways.
  it.each([
    ["{{ ('0' * 100000 ~ 'x') | float(7) }}", '7'],
    ["{{ '{:010000,}'.format(1)|length }}", '10001'],
    ["{{ ((messages[0].content ~ 'b') * 60000).split('b')|length }}", '60001'],
    ["{{ ('ab' * 500000).rsplit('b', 400000)|length }}", '400001'],
  ])('is read within seconds: %s', (template, expected) => {
    const began = performance.now();
    expect(render(template)).toBe(expected);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('readChatTemplate', () => {
  it('prefers chat_template.jinja, then the text or the default of several; an empty one is none', () => {
    const folder = temporaryFolder();
    const list = [
      { name: 'tool_use', template: 'T' },
      { name: 'default', template: 'D' },
    ];
    expect(readChatTemplate(folder, {})).toBe(null);
    expect(readChatTemplate(folder, { chat_template: 'C' })).toBe('C');
    expect(readChatTemplate(folder, { chat_template: list })).toBe('D');
    expect(readChatTemplate(folder, { chat_template: { tool_use: 'T', default: 'D' } })).toBe('D');
    for (const own of [[list[0]], { tool_use: 'T' }])
      expect(() => readChatTemplate(folder, { chat_template: own })).toThrow('called tool_use, and none "default"');
    for (const own of [[], {}, ' \n', null]) expect(readChatTemplate(folder, { chat_template: own })).toBe(null);
    writeFileSync(join(folder, 'chat_template.jinja'), 'J');
    expect(readChatTemplate(folder, { chat_template: 'C' })).toBe('J');
  });
});

describe('tokenText', () => {
  it('is empty for values that are not tokens', () => {
    expect([tokenText(undefined), tokenText(null), tokenText(7), tokenText({ content: 7 })]).toEqual(['', '', '', '']);
  });
});
