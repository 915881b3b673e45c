import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { encodeAnswer } from '../../main/model/answer-tokens.ts';
import { NO_CHAT_SETTINGS } from '../../main/model/chat-settings.ts';
import { answerTokens } from '../../main/model/conversation-tokens.ts';
import { encodePrompt, loadTokenizer } from '../../main/model/tokenizer.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const llama3 = fileURLToPath(new URL('../parity/fixtures/tokenizers/llama3', import.meta.url));

/** A tokenizer with this chat template. */
function opened(template: string, settings = NO_CHAT_SETTINGS) {
  const folder = temporaryFolder();
  cpSync(llama3, folder, { recursive: true });
  writeFileSync(join(folder, 'chat_template.jinja'), template);
  const tokenizer = loadTokenizer(folder, settings);
  const end = tokenizer.tokenId('<|eot_id|>') ?? -1;
  const spelled = (ids: readonly number[] | null): string =>
    tokenizer.decode((ids ?? []).filter((id) => id !== end)) + (ids?.at(-1) === end ? '.' : '');
  return { tokenizer, end, spelled };
}

const user: ChatMessage = { role: 'user', content: 'How much?' };
const called: ChatMessage = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'price', arguments: { of: ['pen', 1] } } }],
};
const result: ChatMessage = { role: 'tool', content: '2', name: 'price', tool_call_id: 'c1' };
const tools = [{ type: 'function', function: { name: 'price', parameters: {} } }];
const CALL = '<tool_call>\n{"name": "price", "arguments": {"of": ["pen", 1]}}\n</tool_call>';

/** Every turn as it is, its words alone. */
const WORDS = `{% for m in messages %}[{{ m.role }}]{{ m.content }}<|eot_id|>{% endfor %}
{%- if add_generation_prompt %}[assistant]{% endif %}`;

describe('a conversation with calls for a template that knows no tools', () => {
  it.each([
    ['', 'has no word of them'],
    ["{% if 'tools' in messages[0] %}{{ messages[0].tools }}{% endif %}", 'reads them in a message'],
  ])('has them in words, as they are sampled: one that %s%s', (before) => {
    const { tokenizer, end, spelled } = opened(before + WORDS);
    expect(spelled(answerTokens(tokenizer, [user, called], tools, [end]))).toBe(`${CALL}.`);
    const prompt = spelled(encodePrompt(tokenizer, '', [], [user, called, result], tools));
    expect(prompt).toMatch(/^\[system\]You can call functions.*"name":"price".*\[user\]How much\?/s);
    expect(prompt).toContain(`[assistant]${CALL}[user]<tool_response>\n2\n</tool_response>[assistant]`);
  });

  it('describes them in the first message where the template takes no system message', () => {
    const strict = `{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}${WORDS}`;
    const { tokenizer, spelled } = opened(strict);
    expect(spelled(encodePrompt(tokenizer, 'How much?', [], undefined, tools))).toMatch(
      /^\[user\]You can call functions.*How much\?\[assistant\]$/s,
    );
  });

  it('describes them below the system prompt of the chat settings', () => {
    const { tokenizer } = opened(WORDS, { ...NO_CHAT_SETTINGS, system_prompt: 'Be kind.' });
    const text = tokenizer.chat([{ role: 'system', content: 'Be brief.' }, user], true, tools);
    expect(text).toMatch(/^\[system\]Be kind\.\n\nYou can call functions/);
  });
});

describe('a turn that only calls', () => {
  it('is empty for a template that can’t have no content', () => {
    const strict = `{% for m in messages %}{{ '[' + m.role + ']' + m.content }}{{ m.tool_calls | length if m.tool_calls else '' }}<|eot_id|>{% endfor %}{{ tools }}`;
    const { tokenizer } = opened(strict);
    expect(tokenizer.chat([user, called], false)).toContain('[assistant]1');
  });
});

describe('thoughts of a turn whose prompt begins them', () => {
  const calls = "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}{% endfor %}{{ tools or '' }}";
  const turns = (prompt: string): string =>
    `{% for m in messages %}[{{ m.role }}]{{ (m.content or '').split('</think>')[-1] }}${calls}<|eot_id|>{% endfor %}
{%- if add_generation_prompt %}[assistant]${prompt}{% endif %}`;
  const said = (template: string, turn: Partial<ChatMessage>): string => {
    const { tokenizer, end, spelled } = opened(template);
    const answer: ChatMessage = { role: 'assistant', content: 'Two.', ...turn };
    return spelled(answerTokens(tokenizer, [user, answer], undefined, [end]));
  };

  it('are written once, and ended', () => {
    const open = turns("<think>{{ '\\n' }}");
    for (const turn of [
      { content: '<think>\nOne each.\n</think>\n\nTwo.' },
      { content: 'One each.\n</think>\nTwo.' },
      { reasoning_content: 'One each.' },
    ])
      expect(said(open, turn)).toBe('One each.\n</think>\n\nTwo..');
    expect(said(open, {})).toBe('\n</think>\n\nTwo..');
    expect(said(open, { ...called, reasoning_content: 'One each.' })).toBe('One each.\n</think>\n\n<call>price.');
  });

  it('are left out where it ends them, and calls stay the template’s', () => {
    const closed = turns('<think></think>');
    expect(said(closed, { ...called, reasoning_content: 'One each.' })).toBe('<call>price.');
    expect(said(closed, { content: '<think>One each.</think>Two.' })).toBe('Two..');
  });
});

describe('encodeAnswer of results', () => {
  it('is what stands after calls where a template shows results beside calls alone', () => {
    // As Gemma 4's: in the turn that called, which continues.
    const beside = `{% for m in messages if m.role != 'tool' %}[{{ m.role }}]{{ m.content }}
{%- for c in m.tool_calls or [] %}<call>{{ c.function.name }}</call>{% endfor %}
{%- if m.tool_calls %}<results>{% for r in messages if r.role == 'tool' %}{{ r.name }}={{ r.content }};{% endfor %}
{%- else %}<|eot_id|>{% endif %}{% endfor %}{{ '' if messages[-1].role == 'tool' else '[assistant]' }}{{ tools and '' }}`;
    const { tokenizer, spelled } = opened(beside);
    expect(spelled(encodeAnswer(tokenizer, [result], null))).toContain('price=2;');
    expect(spelled(encodeAnswer(tokenizer, [result], null))).not.toContain('<call>');
  });

  it('are words of the user where the template shows none', () => {
    const none = `{% for m in messages if m.role != 'tool' %}[{{ m.role }}]{{ m.content }}<|eot_id|>{% endfor %}{{ tools and '' }}`;
    const { tokenizer, spelled } = opened(none);
    expect(spelled(encodeAnswer(tokenizer, [result], null))).toContain('[user]<tool_response>\n2\n</tool_response>');
  });
});
