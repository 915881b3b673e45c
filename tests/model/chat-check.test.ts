import { describe, expect, it } from 'vitest';
import { checkChat, withoutTemplate } from '../../main/model/chat-check.ts';
import { renderChat } from '../../main/model/chat-template.ts';
import { fault } from './faults.ts';

const TURNS =
  '{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}';
const IS_FALSE = `${TURNS}{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}`;
const TRUTHY = `{% if enable_thinking is not defined or enable_thinking %}think {% endif %}${TURNS}`;
const check = (template: string, kwargs: Record<string, unknown>, system: string | null = null) =>
  checkChat({ template, config: {}, folder: 'the folder', kwargs }, system);

describe('checkChat', () => {
  it.each([
    [IS_FALSE, 'no'],
    [IS_FALSE, 'False'],
    [IS_FALSE, ' OFF '],
    [IS_FALSE, 0],
    [TRUTHY, 'no'],
    [TRUTHY, 'false'],
  ])('finds false that is given as something else: %j %j', (template, value) => {
    expect(check(template, { enable_thinking: value })).toEqual([
      {
        kind: 'fault',
        message: expect.stringContaining('"enable_thinking" is the '),
        remedy: 'Write enable_thinking: false',
      },
    ]);
  });

  it.each([
    [IS_FALSE, { enable_thinking: false }],
    [IS_FALSE, { enable_thinking: true }],
    [TRUTHY, { enable_thinking: 0 }],
    [TRUTHY, { enable_thinking: 'yes' }],
    [`{{ language }}${TURNS}`, { language: 'no' }],
    [`{{ budget }}${TURNS}`, { budget: 0 }],
    ['{{ x if x == "on" else "off" }}', { x: 'on' }],
    [TURNS, {}],
  ])('finds nothing where the template makes something of it: %j %j', (template, kwargs) => {
    expect(check(template, kwargs)).toEqual([]);
  });

  it('names a variable that the template does not read, and the one that was meant', () => {
    expect(check(TRUTHY, { enable_thinkin: false })).toEqual([
      {
        kind: 'fault',
        message: expect.stringContaining('reads no "enable_thinkin"'),
        remedy: 'Did you mean "enable_thinking"?',
      },
    ]);
    expect(check(TRUTHY, { budget: 5 })).toEqual([
      {
        kind: 'warning',
        message: expect.stringContaining('"budget"'),
        remedy: 'Leave it out. It reads enable_thinking.',
      },
    ]);
    expect(check(TURNS, { budget: 5 })[0]?.remedy).toBe('Leave it out. It reads no variables of its own.');
  });

  it('finds a system prompt that the template leaves out', () => {
    const users = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}";
    expect(check(users, {}, 'Be brief.')).toEqual([
      { kind: 'warning', message: expect.stringContaining('leaves system messages out'), remedy: expect.any(String) },
    ]);
    expect(check(TURNS, {}, ' Be brief. ')).toEqual([]);
    expect(check(TURNS, {}, null)).toEqual([]);
  });

  it('says of variables without a template that they change nothing', () => {
    expect(withoutTemplate({})).toEqual([]);
    expect(withoutTemplate({ a: 1 })).toEqual([expect.objectContaining({ kind: 'warning' })]);
  });
});

describe('a template that refuses system messages', () => {
  const refuses =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system turn') }}{% endif %}{{ m.content }}{% endfor %}";
  const asked = { role: 'user', content: 'Hi' } as const;

  it('says so, and what to do', () => {
    const [code, message] = fault(() =>
      renderChat(refuses, [{ role: 'system', content: 'x' }, asked], {}, 'the folder'),
    );
    expect([code, message]).toEqual(['SYSTEM_ROLE_REFUSED', expect.stringContaining('takes no system message')]);
  });

  it('is not blamed for another failure', () => {
    const fails = "{{ raise_exception('always') }}";
    expect(fault(() => renderChat(fails, [{ role: 'system', content: 'x' }, asked], {}, 'f'))[0]).toBe(
      'CHAT_TEMPLATE_FAILED',
    );
    expect(fault(() => renderChat(fails, [asked], {}, 'f'))[0]).toBe('CHAT_TEMPLATE_FAILED');
  });
});
