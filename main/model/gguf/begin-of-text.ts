/** Whether llama.cpp begins a text with the model's begin token by itself, as a GGUF file tells it to. */
import { readChatSettings } from '../chat-settings.ts';
import { readChatTemplate, renderChat, tokenText } from '../chat-template.ts';
import { readDefinition, readTokenizerConfig } from '../tokenizer-files.ts';

/**
 * The begin token that llama.cpp is to add; null: none. Servers add it to rendered chats, too (once, if a template
 * prints it): where the tokenizer adds one and the chat template has none, the chats that were trained decide.
 */
export function beginOfText(folder: string): string | null {
  const settings = readTokenizerConfig(folder);
  const token = tokenText(settings.bos_token);
  const { post_processor: post } = readDefinition(folder) as { readonly post_processor?: unknown };
  if (token === '' || !JSON.stringify(post ?? '').includes(JSON.stringify(token).slice(1, -1))) return null;
  const template = readChatTemplate(folder, settings);
  if (template === null) return token;
  const { chat_template_kwargs: kwargs } = readChatSettings(folder);
  const chat = renderChat(template, [{ role: 'user', content: 'a' }], settings, folder, kwargs);
  return chat.startsWith(token) ? token : null;
}
