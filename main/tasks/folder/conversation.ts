/**
 * Conversations in records as people have them (OpenAI's and TRL's role and content, Anthropic's parts, ShareGPT's from and
 * value, others of message-forms.ts, prompt and completion apart, JSON in a text), in the one form that everything else reads.
 */
import { isJsonObject, parseRecordJson, parseRecordPart } from '../../io/json.ts';
import type { ChatMessage, ChatRole, ToolCall } from '../../samples/chat-message.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { shown } from '../record-faults.ts';
import { functionsOf, withoutBlocks } from './message-blocks.ts';
import { inUsualForm, isItem, isMessage, joinedItems } from './message-forms.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What other people call a conversation; the first that a record has is taken. */
export const CONVERSATION_NAMES = ['messages', 'conversations', 'conversation', 'prompt'] as const;
/** What follows a prompt in a column of its own. */
export const COMPLETION_NAMES = ['completion', 'chosen'] as const;
/** OpenAI's Responses: lists of items, or one of them a text. Elsewhere the names are those of texts. */
export const RESPONSES = { asked: 'input', answer: 'output', system: 'instructions' } as const;

/** What a system message in a column of its own is called. */
export const SYSTEM_NAMES = [
  ...['system', 'system_prompt', 'system_message', 'systemInstruction', 'system_instruction'],
] as readonly string[];

/** A conversation is wrong in one place; the message says which, and what was expected. */
export class ConversationFault extends Error {}

/** What roles are called; ShareGPT's and Gemma's names too. */
const ROLES: Readonly<Record<string, ChatRole>> = {
  ...{ system: 'system', developer: 'system' },
  ...{ user: 'user', human: 'user' },
  ...{ assistant: 'assistant', gpt: 'assistant', chatgpt: 'assistant', model: 'assistant', bot: 'assistant' },
  ...{ ai: 'assistant' },
  ...{ tool: 'tool', function: 'tool', observation: 'tool', function_response: 'tool', tool_response: 'tool' },
};
/** Whose value is a call in JSON. */
const CALLS: readonly string[] = ['function_call', 'tool_call'];

/**
 * The conversation of a record under this name or another usual one; undefined: it has none. Throws a ConversationFault.
 * `declared`: fields that the task has a use of its own for.
 */
export function conversationIn(
  record: Fields,
  name: string,
  declared: readonly string[] = [],
): readonly ChatMessage[] | undefined {
  const { asked, answer, system: instructions } = RESPONSES;
  const lists = listNames(record);
  const found = [name, ...CONVERSATION_NAMES, ...lists].find(
    (one) => Object.hasOwn(record, one) && record[one] != null,
  );
  if (found === undefined) return undefined;
  checkMedia(record);
  const isAsked = found === asked && lists.includes(asked);
  const answers: readonly string[] = found === 'prompt' ? COMPLETION_NAMES : isAsked ? [answer] : [];
  const completed = answers.find((one) => record[one] != null);
  const own = completed === undefined ? record[found] : joined(record[found], record[completed]);
  const systems = isAsked ? [...SYSTEM_NAMES, instructions] : SYSTEM_NAMES;
  const system = systems.find((one) => Object.hasOwn(record, one) && !declared.includes(one));
  return readConversation(system === undefined ? own : withSystem(record[system], own), found);
}

/** Names of conversations that are others' names of texts: where they are lists of messages. Gemini's, OpenAI's Responses. */
export function listNames(record: Fields): readonly string[] {
  const { asked, answer } = RESPONSES;
  const areItems = isConversation(record[asked]) || isConversation(record[answer]);
  return [...(isConversation(record.contents) ? ['contents'] : []), ...(areItems ? [asked] : [])];
}

/** A conversation that a system message from beside it opens, unless it opens with the same one. */
export function withSystem(given: unknown, conversation: unknown): unknown {
  const system = systemText(given);
  if (typeof system !== 'string' || system.trim() === '' || conversation == null) return conversation;
  const said = parsedText(conversation);
  const messages = typeof said === 'string' ? [{ role: 'user', content: said }] : said;
  if (!Array.isArray(messages)) return conversation;
  const [first] = messages as unknown[];
  const opens = isJsonObject(first) && (first.role ?? first.from) === 'system' ? (first.content ?? first.value) : null;
  return opens === system ? messages : [{ role: 'system', content: system }, ...messages];
}

/** Whether a value can be a system message, or the lack of one. */
export function isSystemText(value: unknown): boolean {
  return value == null || typeof systemText(value) === 'string';
}

/** Of Gemini's content with parts, too. */
function systemText(value: unknown): unknown {
  const parts = isJsonObject(value) ? value.parts : value;
  return Array.isArray(parts) ? textParts(parts) : value;
}

/** Anthropic's system message in parts; null: they are something else. */
function textParts(parts: readonly unknown[]): string | null {
  const texts = parts.map((part) => (isJsonObject(part) ? part.text : part));
  return texts.every((text) => typeof text === 'string') ? texts.join('') : null;
}

/** A prompt and what follows it, each a text or messages. */
export function joined(prompt: unknown, completion: unknown): unknown {
  const asked = parsedText(prompt);
  const said = parsedText(completion);
  const first = typeof asked === 'string' ? [{ role: 'user', content: asked }] : asked;
  const last = typeof said === 'string' ? [{ role: 'assistant', content: said }] : isMessage(said) ? [said] : said;
  if (!Array.isArray(first) || !Array.isArray(last)) return [first, last];
  // A chosen answer is often the whole conversation.
  const isWhole = first.length < last.length && JSON.stringify(last.slice(0, first.length)) === JSON.stringify(first);
  return isWhole ? last : [...first, ...last];
}

/** Whether a value looks like a conversation, good or not. */
export function isConversation(value: unknown): boolean {
  const list = parsedText(value);
  if (!Array.isArray(list) || list.length === 0) return false;
  return list.every(isMessage);
}

/** Checks a conversation and puts it into the usual form. `name`: its field. Throws a ConversationFault. */
export function readConversation(given: unknown, name: string): readonly ChatMessage[] {
  const value = typeof given === 'string' ? textOrList(given, name) : given;
  if (!Array.isArray(value)) throw fault(name, `to be a list of messages {role, content}, got ${shown(value)}`);
  if (value.length === 0) throw fault(name, 'to have at least one message, got none');
  const messages = readTurns(value, name);
  checkOrder(messages, name);
  return messages;
}

/** The same of a part of a conversation, which may begin with anybody. */
export function readTurns(turns: readonly unknown[], name: string): readonly ChatMessage[] {
  const messages: ChatMessage[] = [];
  let afterItem = false;
  for (const [i, turn] of turns.entries()) {
    const item = isItem(turn);
    for (const one of inUsualForm(turn).flatMap(withoutBlocks)) {
      const message = readMessage(one, `${name}[${i}]`);
      const last = item && afterItem ? messages.at(-1) : undefined;
      const whole = last === undefined ? null : joinedItems(last, message);
      if (whole === null) messages.push(message);
      else messages[messages.length - 1] = whole;
    }
    afterItem = item;
  }
  return messages;
}

/** A text alone is what the user says. */
function textOrList(text: string, name: string): unknown {
  const value = parsedText(text);
  if (typeof value !== 'string') return value;
  if (/^\s*\[\s*\{/.test(value)) return partOf(value, name, 'JSON');
  return [{ role: 'user', content: value }];
}

/** JSON in a text; another text, or another value, as it is. */
export function parsedText(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\[\s*\{/.test(value)) return value;
  try {
    return parseRecordJson(value);
  } catch {
    return value;
  }
}

/** JSON in a text; a fault says what else it is. */
function partOf(text: string, place: string, what: string): unknown {
  try {
    return parseRecordPart(text);
  } catch (error) {
    if (error instanceof RangeError) throw new ConversationFault(`"${place}": ${error.message}`);
    throw fault(place, `to be ${what}, got ${shown(text)}`);
  }
}

function fault(place: string, expected: string): ConversationFault {
  return new ConversationFault(`expected "${place}" ${expected}`);
}

function readMessage(value: unknown, place: string): ChatMessage {
  if (!isJsonObject(value)) throw fault(place, `to be a message {role, content}, got ${shown(value)}`);
  const named = value.role ?? value.from;
  if (named === undefined && typeof value.type === 'string')
    throw fault(place, `to be a message, a function call, its output or reasoning, got ${shown(value.type)}`);
  if (named === undefined) throw fault(`${place}.role`, 'to be system, user, assistant or tool, got none');
  if (typeof named === 'string' && CALLS.includes(named)) return calledInText(value, place);
  const plain = typeof named === 'string' ? named.toLowerCase() : '';
  const role = Object.hasOwn(ROLES, plain) ? ROLES[plain] : undefined;
  if (role === undefined)
    throw fault(
      `${place}.role`,
      `to be system, user, assistant or tool, got ${shown(named)}${typeof named === 'string' ? didYouMean(nearestName(named, Object.keys(ROLES))) : ''}`,
    );
  // OpenAI's older files have one call.
  const given = value.tool_calls || (value.function_call == null ? null : [value.function_call]);
  const calls = given === null ? [] : readCalls(parsedText(given), role, `${place}.tool_calls`);
  const said = Object.hasOwn(value, 'content') ? 'content' : 'value';
  const content = readContent(value[said], `${place}.content`, calls.length > 0);
  checkMedia(value, `${place}: `);
  return {
    role,
    content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...textField(value, 'tool_call_id', place),
    ...textField(value, 'name', place),
    ...thoughtsIn(value, role, place),
    ...(role === 'assistant' && isLeftOut(value, place) && { weight: 0 }),
  };
}

/** Whether training leaves the turn out: OpenAI's mark, and those of Axolotl and ms-swift. */
function isLeftOut(value: Fields, place: string): boolean {
  return readWeight(value.weight, `${place}.weight`) === 0 || MARKS.some((mark) => value[mark] === false);
}

const MARKS = ['training', 'train', 'loss'] as const;

function readWeight(given: unknown, place: string): 0 | 1 {
  if (given == null || given === 1) return 1;
  if (given === 0) return 0;
  throw fault(place, `to be 0 (not trained on) or 1, got ${shown(given)}`);
}

function textField<Name extends string>(value: Fields, name: Name, place: string): { readonly [N in Name]?: string } {
  const given = value[name];
  if (given == null) return {};
  if (typeof given !== 'string') throw fault(`${place}.${name}`, `to be a text, got ${shown(given)}`);
  return { [name]: checkText(given, `${place}.${name}`) } as { readonly [N in Name]?: string };
}

/** What thoughts are called; the first that a message has is taken. */
const THOUGHTS = ['reasoning_content', 'reasoning', 'thinking'] as const;

function thoughtsIn(value: Fields, role: ChatRole, place: string): { readonly reasoning_content?: string } {
  const name = THOUGHTS.find((one) => typeof value[one] === 'string' && value[one] !== '') ?? 'reasoning_content';
  const { [name]: reasoning_content } = textField(value, name, place);
  return reasoning_content === undefined || role !== 'assistant' ? {} : { reasoning_content };
}

function checkText(text: string, place: string): string {
  if (text.includes('\0')) throw fault(place, 'to be a text without NUL characters');
  return text;
}

/** A text, or parts of text, which are joined; what isn't text is refused by its name. */
function readContent(value: unknown, place: string, calls: boolean): string | null {
  if (typeof value === 'string') return checkText(value, place);
  if (value == null && calls) return null;
  if (value == null) throw fault(place, 'to be a text, got none; only a message with tool_calls may lack it');
  if (!Array.isArray(value)) throw fault(place, `to be a text, got ${shown(value)}`);
  return value.map((part, i) => partText(part, `${place}[${i}]`)).join('');
}

function partText(part: unknown, place: string): string {
  if (typeof part === 'string') return checkText(part, place);
  const { type, text } = isJsonObject(part) ? part : {};
  if (TEXTS.includes(String(type)) && typeof text === 'string') return checkText(text, place);
  if (typeof type === 'string' && MEDIA.test(type))
    throw fault(place, `to be text, got ${shown(type)}: models here read text alone`);
  throw fault(place, `to be a part {type: "text", text}, got ${shown(part)}`);
}

/** What parts of text are called; OpenAI's Responses have names for either side. */
const TEXTS = ['text', 'input_text', 'output_text'];
const MEDIA = /image|audio|video|file/i;
/** Columns beside a conversation that hold what its words are about. */
const MEDIA_FIELDS = ['image', 'images', 'audio', 'audios', 'video', 'videos'] as const;

/** Throws a ConversationFault for pictures and sounds. */
export function checkMedia(record: Fields, before = ''): void {
  const has = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value != null && value !== '');
  const found = MEDIA_FIELDS.find((name) => Object.hasOwn(record, name) && has(record[name]));
  if (found !== undefined)
    throw new ConversationFault(`${before}it has "${found}", which models here can't read: they read text alone`);
}

function readCalls(value: unknown, role: ChatRole, place: string): readonly ToolCall[] {
  if (!Array.isArray(value)) throw fault(place, `to be a list of calls, got ${shown(value)}`);
  if (role !== 'assistant' && value.length > 0) throw fault(place, `to be the assistant's, got them of the ${role}`);
  return value.map((one, i) => readCall(one, `${place}[${i}]`));
}

function readCall(value: unknown, place: string): ToolCall {
  const called: unknown = isJsonObject(value) ? (value.function ?? value) : value;
  if (!isJsonObject(called) || typeof called.name !== 'string' || called.name === '')
    throw fault(place, `to be a call {type: "function", function: {name, arguments}}, got ${shown(value)}`);
  const given = argumentsOf(called.arguments ?? called.parameters ?? {}, `${place}.function.arguments`);
  const { id } = value as Fields;
  return {
    ...(typeof id === 'string' && id !== '' && { id }),
    type: 'function',
    function: { name: checkText(called.name, place), arguments: given },
  };
}

/** OpenAI gives them as JSON in a text, templates want what it says. */
function argumentsOf(value: unknown, place: string): Fields {
  const isEmpty = typeof value === 'string' && value.trim() === '';
  const given = isEmpty ? {} : typeof value === 'string' ? partOf(value, place, 'JSON') : value;
  if (!isJsonObject(given)) throw fault(place, `to be an object, got ${shown(given)}`);
  return given;
}

/** ShareGPT's turn `function_call`, whose value is the call. */
function calledInText(value: Fields, place: string): ChatMessage {
  const text = value.value ?? value.content;
  const call = typeof text === 'string' ? partOf(text, `${place}.content`, 'a call in JSON') : text;
  const calls = Array.isArray(call) ? call : [call];
  return { role: 'assistant', content: null, tool_calls: readCalls(calls, 'assistant', `${place}.content`) };
}

/** What no chat template could make sense of. */
function checkOrder(messages: readonly ChatMessage[], name: string): void {
  const system = messages.findLastIndex(({ role }) => role === 'system');
  if (system > 0) throw fault(`${name}[${system}]`, 'not to be of the system, which speaks first and once');
  const [first] = messages.filter(({ role }) => role !== 'system');
  if (first === undefined) throw fault(name, 'to have a message of the user, got the system’s alone');
  if (first.role === 'tool') throw fault(`${name}[${messages.indexOf(first)}]`, 'to answer a call, got none before it');
  if (!messages.some(({ role }) => role === 'user')) throw fault(name, 'to have a message of the user, got none');
  const called = new Set<string>();
  let open = false;
  for (const [i, { role, tool_calls: calls = [], tool_call_id: id }] of messages.entries()) {
    // Its words may be calls, as a family writes them (Hermes, ToolACE).
    if (role === 'assistant') open = true;
    if (role === 'user') open = false;
    for (const call of calls) if (call.id !== undefined) called.add(call.id);
    if (role !== 'tool') continue;
    if (!open) throw fault(`${name}[${i}]`, 'to answer a call, got none before it');
    if (id !== undefined && called.size > 0 && !called.has(id))
      throw fault(`${name}[${i}].tool_call_id`, `to be one of ${[...called].join(', ')}, got ${shown(id)}`);
  }
  const last = messages.at(-1);
  if (last?.role === 'assistant' && last.content?.trim() === '' && last.tool_calls === undefined)
    throw fault(`${name}[${messages.length - 1}].content`, 'to say something, as the last turn is the target');
}

/** The functions that a record offers, as JSON schemas; a list may be JSON in a text. Throws a ConversationFault. */
export function readTools(given: unknown): readonly Fields[] | undefined {
  if (given == null || given === '') return undefined;
  const value =
    typeof given === 'string' && /^\s*\[/.test(given) ? partOf(given, 'tools', 'a list of functions') : given;
  if (!Array.isArray(value)) throw fault('tools', `to be a list of functions, got ${shown(given)}`);
  return value.flatMap(functionsOf).map((one, i) => {
    const named: unknown = isJsonObject(one) ? (isJsonObject(one.function) ? one.function.name : one.name) : undefined;
    if (typeof named === 'string') return one as Fields;
    throw fault(`tools[${i}]`, `to be {type: "function", function: {name, parameters}}, got ${shown(one)}`);
  });
}
