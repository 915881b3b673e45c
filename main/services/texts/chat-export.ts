/**
 * Texts from chat exports: the assistant's long answers only. Formats differ between products and years, so this looks
 * for the common parts: conversations, messages in them, and each message's author and content.
 */
import { countSourceWords } from '../../text/source-words.ts';
import { plainText } from './markdown.ts';

/** One long answer of an assistant. */
export interface ChatText {
  readonly title: string | undefined;
  readonly text: string;
}

/** The contents of a chat export. */
export interface ChatExport {
  readonly texts: readonly ChatText[];
  /** Messages of an assistant, short ones included. */
  readonly answers: number;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const MESSAGE_LISTS = ['messages', 'responses', 'chat_messages', 'turns'] as const;
const ASSISTANTS = /^(?:assistant|model|bot|ai|grok\b.*|chatgpt|gpt\b.*|claude|gemini)$/i;

/** The messages of one conversation, in order; null if the value is not a conversation. */
function messagesOf(value: unknown): readonly unknown[] | null {
  if (!isFields(value)) return null;
  if (isFields(value.mapping)) return Object.values(value.mapping);
  for (const name of MESSAGE_LISTS) if (Array.isArray(value[name])) return value[name];
  return isFields(value.conversation) ? messagesOf(value.conversation) : null;
}

/** An export's conversations: a list of them, a single one, or a bare list of messages. Null for anything else. */
function conversationsOf(value: unknown): readonly unknown[] | null {
  if (isFields(value) && Array.isArray(value.conversations)) return value.conversations;
  if (messagesOf(value) !== null) return [value];
  if (!Array.isArray(value) || value.length === 0) return null;
  if (value.every((item) => messagesOf(item) !== null)) return value;
  return value.every((item) => isMessage(item)) ? [{ messages: value }] : null;
}

function isMessage(value: unknown): boolean {
  return isFields(value) && roleOf(value) !== undefined && contentOf(value) !== undefined;
}

/** A message may be nested one level down, under `message` or `response`. */
function unwrapped(value: unknown): Fields | null {
  if (!isFields(value)) return null;
  if (isFields(value.response)) return value.response;
  return isFields(value.message) ? value.message : value;
}

function roleOf(message: Fields): string | undefined {
  const author = isFields(message.author) ? message.author.role : message.author;
  return [message.role, message.sender, author].find((role) => typeof role === 'string');
}

/** Plain strings, {parts: […]} and [{type: 'text', text}] all occur as content. */
function contentOf(message: Fields): string | undefined {
  for (const content of [message.content, message.message, message.text]) {
    if (typeof content === 'string') return content;
    const parts = isFields(content) ? content.parts : content;
    if (Array.isArray(parts))
      return parts
        .map(partText)
        .filter((part) => part !== '')
        .join('\n\n');
  }
  return undefined;
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  return isFields(part) && typeof part.text === 'string' ? part.text : '';
}

function titleIn(conversation: unknown): string | undefined {
  if (!isFields(conversation)) return undefined;
  const title = [conversation.title, conversation.name].find((name) => typeof name === 'string' && name.trim() !== '');
  return typeof title === 'string' ? title : titleIn(conversation.conversation);
}

/** Whether a JSON value is a chat export. */
export function isChatExport(value: unknown): boolean {
  return conversationsOf(value) !== null;
}

/** The assistant's messages of at least `minWords` words. */
export function readChatExport(value: unknown, minWords: number): ChatExport {
  const texts: ChatText[] = [];
  let answers = 0;
  for (const conversation of conversationsOf(value) ?? []) {
    const title = titleIn(conversation);
    let kept = 0;
    for (const item of messagesOf(conversation) ?? []) {
      const message = unwrapped(item);
      if (message === null || !ASSISTANTS.test(roleOf(message) ?? '')) continue;
      answers++;
      const text = plainText(contentOf(message) ?? '');
      if (countSourceWords(text) < minWords) continue;
      kept++;
      texts.push({ title: title === undefined || kept === 1 ? title : `${title} (${kept})`, text });
    }
  }
  return { texts, answers };
}
