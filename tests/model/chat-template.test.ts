import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readChatTemplate, renderChat, tokenText } from '../../main/model/chat-template.ts';
import { fault } from './faults.ts';

const render = (template: string, config: Record<string, unknown> = {}): string =>
  renderChat(template, [{ role: 'user', content: 'Hi' }], config, 'the folder');

describe('renderChat', () => {
  it('pins every way to get the date', () => {
    expect(render('{{ date_string }}')).toBe('26 Jul 2024');
    expect(render("{{ strftime_now('%d %B %Y, %A %H:%M %% %Q') }}")).toBe('26 July 2024, Friday 00:00 % %Q');
  });

  it('passes special tokens, from text or objects, and empty ones if there are none', () => {
    const config = { bos_token: { content: '<s>', lstrip: false }, pad_token: '<pad>', unk_token: null };
    expect(render('{{ bos_token }}|{{ pad_token }}|{{ eos_token }}', config)).toBe('<s>|<pad>|');
    expect(render('{{ unk_token is defined }}', config)).toBe('false');
  });

  it('knows range, none and tools', () => {
    const counted = '{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 1, -2) %}{{ i }}{% endfor %}';
    expect(render(counted)).toBe('01253');
    expect(render('{{ tools is none }}')).toBe('true');
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

describe('a template that never ends', () => {
  const loop = (inner: string, depth: number): string =>
    depth === 0 ? inner : `{% for i${depth} in range(10000) %}${loop(inner, depth - 1)}{% endfor %}`;
  it.each([
    ['nested loops', loop('{{ 1 }}', 3), 'it takes more than'],
    ['a range without end', '{% for i in range(2000000000) %}{% endfor %}', 'a range of 2000000000 numbers'],
    ['a range of no number', "{% for i in range('x') %}{% endfor %}", 'a range of NaN'],
    ['a text that doubles', `{% set ns = namespace(s='x') %}${loop('{% set ns.s = ns.s ~ ns.s %}', 1)}`, ''],
    ['a macro that calls itself', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', ''],
    ['a long template', 'x'.repeat(200_001), 'has 200001 characters'],
    ['a run of spaces', `{% if a${'\ufeff'.repeat(60_000)}`, 'more than 1000 spaces in a row'],
    ['a text of megabytes', `{% set s = 'x' * 1 %}${loop("{{ '0123456789' * 1 }}{{ 'x' | indent(200) }}", 1)}`, ''],
  ])('is ended: %s', (_, template, named) => {
    const began = performance.now();
    expect(fault(() => render(template))).toEqual(['CHAT_TEMPLATE_FAILED', expect.stringContaining(named)]);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

describe('readChatTemplate', () => {
  it('prefers chat_template.jinja, then the text or the default of a list', () => {
    const folder = mkdtempSync(join(tmpdir(), 'braid-template-'));
    const list = [
      { name: 'tool_use', template: 'T' },
      { name: 'default', template: 'D' },
    ];
    expect(readChatTemplate(folder, {})).toBe(null);
    expect(readChatTemplate(folder, { chat_template: 'C' })).toBe('C');
    expect(readChatTemplate(folder, { chat_template: list })).toBe('D');
    expect(readChatTemplate(folder, { chat_template: [list[0]] })).toBe(null);
    writeFileSync(join(folder, 'chat_template.jinja'), 'J');
    expect(readChatTemplate(folder, { chat_template: 'C' })).toBe('J');
    rmSync(folder, { recursive: true });
  });
});

describe('tokenText', () => {
  it('is empty for values that are not tokens', () => {
    expect([tokenText(undefined), tokenText(null), tokenText(7), tokenText({ content: 7 })]).toEqual(['', '', '', '']);
  });
});
