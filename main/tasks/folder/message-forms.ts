/**
 * Messages of other programs, each as those of the usual form that it stands for: items of OpenAI's Responses, LangChain's
 * dumps, Gemini's contents. What has no place there stays as it was, for the reader to refuse.
 */
import { isJsonObject } from '../../io/json.ts';
import type { ChatMessage } from '../../samples/chat-message.ts';
import { failedContent } from '../tool-use.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Null: it isn't of this form. */
type Form = (value: Fields) => readonly unknown[] | null;

const forms: readonly Form[] = [ofLangChain, ofGemini, ofResponses];

/** A message of any form; one of none, or of the usual one, is as it was. */
export function inUsualForm(value: unknown): readonly unknown[] {
  if (!isJsonObject(value)) return [value];
  for (const form of forms) {
    const messages = form(value);
    if (messages !== null) return messages;
  }
  return [value];
}

/** Whether it looks like a message of any form, good or not. */
export function isMessage(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if (typeof value.role === 'string' || typeof value.from === 'string') return true;
  return ITEM.test(String(value.type)) || forms.some((form) => form(value) !== null);
}

const LANGCHAIN: Readonly<Record<string, string>> = {
  ...{ human: 'user', ai: 'assistant', system: 'system', tool: 'tool', function: 'tool' },
};

/** `{type: "human", data: {content}}`, `{lc: 1, id: […, "HumanMessage"], kwargs: {content}}`, `{type: "human", content}`. */
function ofLangChain(value: Fields): readonly unknown[] | null {
  const { lc, id, kwargs, data, type } = value;
  const isDump = lc === 1 && Array.isArray(id) && isJsonObject(kwargs);
  const fields = isDump ? kwargs : isJsonObject(data) ? data : value;
  const name = String(isDump ? id.at(-1) : type).replace(/Message(?:Chunk)?$/, '');
  const kind = name.toLowerCase();
  const role = kind === 'chat' ? fields.role : Object.hasOwn(LANGCHAIN, kind) ? LANGCHAIN[kind] : undefined;
  if (role === undefined || (fields === value && value.role !== undefined) || !Object.hasOwn(fields, 'content'))
    return null;
  const { tool_call_id, name: speaker, additional_kwargs: more, status } = fields;
  const content = role === 'tool' && status === 'error' ? failedContent(fields.content) : fields.content;
  const { function_call, reasoning_content, tool_calls: older } = isJsonObject(more) ? more : ({} as Fields);
  const calls = [...listOf(fields.tool_calls), ...listOf(fields.invalid_tool_calls)].map((call) => {
    const { name: called, args, id: own } = isJsonObject(call) ? call : ({} as Fields);
    return { id: own, function: { name: called, arguments: args } };
  });
  const isSilent = calls.length > 0 && (content === '' || (Array.isArray(content) && content.length === 0));
  return [
    {
      ...{ role, content: isSilent ? null : content, tool_call_id, name: speaker, reasoning_content },
      ...(calls.length > 0 ? { tool_calls: calls } : { tool_calls: older, function_call }),
    },
  ];
}

/** `{role: "model", parts: [{text}, {functionCall: {name, args}}]}`, in the names of any of its libraries. */
function ofGemini({ role = 'user', parts: given, content }: Fields): readonly unknown[] | null {
  const parts = isJsonObject(given) ? [given] : given;
  if (!Array.isArray(parts) || content !== undefined) return null;
  const calls: unknown[] = [];
  const results: unknown[] = [];
  const thoughts: string[] = [];
  const rest: unknown[] = [];
  for (const part of parts) {
    const fields = isJsonObject(part) ? part : {};
    const call = fields.functionCall ?? fields.function_call;
    const result = fields.functionResponse ?? fields.function_response;
    if (isJsonObject(call)) calls.push({ id: call.id, function: { name: call.name, arguments: call.args } });
    else if (isJsonObject(result)) results.push(resultOf(result));
    else if (fields.thought === true && typeof fields.text === 'string') thoughts.push(fields.text);
    else rest.push(textOrMedia(part));
  }
  if (rest.length === 0 && calls.length === 0 && results.length > 0) return results;
  return [
    ...results,
    {
      role,
      content: rest.length === 0 && calls.length > 0 ? null : rest,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
    },
  ];
}

function resultOf({ id, name, response }: Fields): Fields {
  const content = typeof response === 'string' ? response : JSON.stringify(response ?? {});
  return { role: 'tool', tool_call_id: id, name, content };
}

function textOrMedia(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  const media = part.inlineData ?? part.inline_data ?? part.fileData ?? part.file_data;
  if (isJsonObject(media)) return { type: media.mimeType ?? media.mime_type ?? 'file' };
  // Parts that say what they are, are of others.
  return typeof part.text === 'string' && part.type === undefined ? { type: 'text', text: part.text } : part;
}

/** Items other than messages, whether they can be read or not. */
const ITEM = /^(?:reasoning|item_reference|\w+_call(?:_output)?)$/;

/** `function_call`, `function_call_output` and `reasoning`, whose words its library gives as summary, content or not at all. */
function ofResponses(value: Fields): readonly unknown[] | null {
  if (value.role !== undefined) return null;
  const { type, id, call_id = id, name, arguments: given, output } = value;
  switch (type) {
    case 'function_call':
      return [assistant({ content: null, tool_calls: [{ id: call_id, function: { name, arguments: given } }] })];
    case 'function_call_output':
      return [{ role: 'tool', tool_call_id: call_id, content: output }];
    case 'reasoning': {
      const thoughts = thoughtsOf(value);
      return thoughts === '' ? [] : [assistant({ content: '', reasoning_content: thoughts })];
    }
    default:
      return null;
  }
}

const assistant = (fields: Fields): Fields => ({ role: 'assistant', ...fields });

function thoughtsOf({ content, summary }: Fields): string {
  const words = (parts: unknown): string =>
    listOf(parts)
      .flatMap((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : []))
      .join('\n');
  return words(content) || words(summary);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether it is an item of OpenAI's Responses: a turn of the assistant has several. */
export function isItem(value: unknown): boolean {
  return isJsonObject(value) && (value.type === 'message' || ofResponses(value) !== null);
}

/** Two items of one turn as one message; null: they are two turns. */
export function joinedItems(before: ChatMessage, next: ChatMessage): ChatMessage | null {
  if (before.role !== 'assistant' || next.role !== 'assistant' || (before.content && next.content)) return null;
  const calls = [...(before.tool_calls ?? []), ...(next.tool_calls ?? [])];
  const thoughts = [before, next].flatMap(({ reasoning_content: own = [] }) => own);
  const content = before.content || next.content || '';
  return {
    ...before,
    ...next,
    content: content === '' && calls.length > 0 ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
  };
}

/** Whether a conversation has thoughts that only its author's servers can read. */
export function hidesThoughts(conversation: unknown): boolean {
  return listOf(conversation).some((one) => {
    if (!isJsonObject(one)) return false;
    if (one.type === 'reasoning') return thoughtsOf(one) === '' && one.encrypted_content != null;
    return listOf(one.content).some((part) => isJsonObject(part) && part.type === 'redacted_thinking');
  });
}
