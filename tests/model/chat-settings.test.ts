import { describe, expect, it } from 'vitest';
import { templateWithSettings } from '../../main/model/chat-settings.ts';
import { renderChat } from '../../main/model/chat-template.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { CHATS } from './chat-formats.ts';

const TURNS: readonly ChatMessage[] = [
  { role: 'user', content: 'One' },
  { role: 'assistant', content: 'Two' },
  { role: 'user', content: 'Three' },
];
const render = (template: string, messages = TURNS, kwargs: Record<string, unknown> = {}): string =>
  renderChat(template, messages, {}, 'the folder', kwargs);

describe('templateWithSettings', () => {
  const settings = {
    system_prompt: 'Say "no" to {{ braces }} and %}.\nÜberall',
    chat_template_kwargs: { enable_thinking: false, date_string: '1 May 2025', budget: 2.5, 'no-name': 1 },
    reply_prompt: null,
  };

  it.each(Object.entries(CHATS).filter(([, { noSystem }]) => noSystem !== true))(
    'gives what %s gives with the settings',
    (_, { template }) => {
      const said: readonly ChatMessage[] = [{ role: 'system', content: settings.system_prompt }, ...TURNS];
      expect(render(templateWithSettings(template, settings))).toBe(
        render(template, said, settings.chat_template_kwargs),
      );
    },
  );

  it('keeps a system message of the chat, and its own switches', () => {
    const template = templateWithSettings('{{ enable_thinking }} {{ messages[0].content }}', settings);
    const own: readonly ChatMessage[] = [{ role: 'system', content: 'Mine' }, ...TURNS];
    expect(render(template, own, { enable_thinking: true })).toBe('False Mine');
  });

  it('is the template itself without settings', () => {
    expect(templateWithSettings('T', { system_prompt: null, chat_template_kwargs: {}, reply_prompt: null })).toBe('T');
  });
});
