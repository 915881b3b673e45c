/**
 * Tool calls in what a model wrote, as its family writes them: Hermes, Qwen and SmolLM in <tool_call> tags (Qwen3-Coder
 * with tags inside), Granite 3, Phi-4-mini, LFM2, OLMo-3 and Gemma 4 between marks of their own, Mistral after
 * [TOOL_CALLS], Llama 3 as JSON alone. Pure.
 */
import { isJsonObject, parseJsonExactly } from '../../io/json.ts';
import { type ChatTool, type ToolCall, toolName } from '../../samples/chat-message.ts';
import { GEMMA_QUOTE, literalCalls, WORDS } from './literal-calls.ts';

export interface ToolTurn {
  /** The words beside the calls. */
  readonly content: string;
  readonly calls: readonly ToolCall[];
  /** What looks like calls and can't be read, which stays in the content; null: nothing. */
  readonly problem: string | null;
}

/** What stands around one call or several: how it begins and ends. */
const AROUND: ReadonlyMap<string, string> = new Map([
  ['<tool_call>', '</tool_call>'],
  ['<|tool_call|>', '<|/tool_call|>'],
  ['<|tool_call_start|>', '<|tool_call_end|>'],
  ['<function_calls>', '</function_calls>'],
  ['<|tool_call>', '<tool_call|>'],
]);
/** How calls begin, where control tokens are kept in the text. */
export const CALL_MARKS: readonly string[] = [...AROUND.keys(), '[TOOL_CALLS]', '<|python_tag|>'];
/** What parts and ends them, and may be a control token too. */
export const PART_MARKS: readonly string[] = [...AROUND.values(), '[CALL_ID]', '[ARGS]', GEMMA_QUOTE];
/** Those with calls as programs have them. */
const LITERAL = ['<|tool_call_start|>', '<function_calls>', '<|tool_call>'];
/** How thoughts end. */
const THOUGHT = '</think>';

/** Reads a turn. `tools`: the functions that may be called; JSON alone counts as a call of one of them only. */
export function readToolCalls(text: string, tools: readonly ChatTool[]): ToolTurn {
  const at = callStart(text);
  const plain: ToolTurn = { content: text, calls: [], problem: null };
  if (at === null) return plain;
  const [before, rest] = [text.slice(0, at), text.slice(at)];
  try {
    const calls = callsIn(rest, tools);
    const names = tools.map(toolName);
    // SmolLM2 writes an empty list where it has no use for a tool.
    if (calls === null || calls.length === 0) return plain;
    if (isBareJson(rest) && !calls.every(({ function: { name } }) => names.includes(name))) return plain;
    return { content: before.trim(), calls, problem: null };
  } catch (error) {
    return isBareJson(rest) ? plain : { ...plain, problem: (error as Error).message };
  }
}

/** Where calls begin, or may begin in what is still being written; null: nowhere. */
function callStart(text: string): number | null {
  const from = afterThoughts(text);
  const marks = CALL_MARKS.map((mark) => text.indexOf(mark, from)).filter((at) => at >= 0);
  if (marks.length > 0) return Math.min(...marks);
  return isBareJson(text.slice(from)) ? from : null;
}

/** Where the thoughts at the beginning end, which may speak of calls: the prompt may have opened them. */
function afterThoughts(text: string): number {
  const end = text.indexOf(THOUGHT);
  if (end >= 0) return end + THOUGHT.length;
  return text.trimStart().startsWith('<think>') ? text.length : 0;
}

/** How many characters of an unfinished text can't be part of calls. */
export function wordsBeforeCalls(text: string): number {
  const at = callStart(text);
  if (at !== null) return at;
  if (text.trim() === '') return 0;
  let held = 0;
  for (const mark of CALL_MARKS)
    for (let length = Math.min(mark.length - 1, text.length); length > held; length--)
      if (text.endsWith(mark.slice(0, length))) held = length;
  return text.length - held;
}

function isBareJson(text: string): boolean {
  return text.trimStart().startsWith('{');
}

function callsIn(text: string, tools: readonly ChatTool[]): ToolCall[] | null {
  for (const [begin, end] of AROUND) if (text.startsWith(begin)) return tagged(text, begin, end, tools);
  if (text.startsWith('[TOOL_CALLS]')) return mistral(text);
  return objectsIn(text.replace(/^<\|python_tag\|>/, '')).flatMap(jsonCalls);
}

/** <tool_call>{…}</tool_call>, also several, or a list in one (SmolLM2); the last may lack its end. */
function tagged(text: string, begin: string, end: string, tools: readonly ChatTool[]): ToolCall[] {
  const parts = text.split(begin).slice(1);
  return parts.flatMap((part) => {
    const [inside = ''] = part.split(end);
    if (inside.trimStart().startsWith('<function=')) return xmlCalls(inside, tools);
    const isLiteral = LITERAL.includes(begin) && !/^\s*(?:\[\s*)?\{/.test(inside);
    return isLiteral ? literalCalls(inside).map(({ name, given }) => callOf(name, given)) : jsonCalls(inside);
  });
}

const XML_CALL = /<function=([^<>\n]*)>([\s\S]*?)(?:<\/function>|$)/g;
const XML_ARGUMENT = /<parameter=([^<>\n]+)>\n?([\s\S]*?)\n?(?:<\/parameter>|(?=<parameter=)|$)/g;

/** <function=NAME><parameter=KEY>VALUE</parameter> … </function> */
function xmlCalls(text: string, tools: readonly ChatTool[]): ToolCall[] {
  return Array.from(text.matchAll(XML_CALL), ([, name = '', inside = '']) => {
    const given = Array.from(inside.matchAll(XML_ARGUMENT), ([, key = '', value = '']) => {
      return [key.trim(), argumentIn(value, argumentTypes(tools, name.trim(), key.trim()))];
    });
    return callOf(name.trim(), Object.fromEntries(given));
  });
}

/** The types that an argument may have; none: the function doesn't say. */
function argumentTypes(tools: readonly ChatTool[], name: string, argument: string): readonly unknown[] {
  const tool = tools.find((one) => toolName(one) === name);
  const { parameters } = (tool?.function ?? tool ?? {}) as {
    readonly parameters?: { readonly properties?: Readonly<Record<string, unknown>> };
  };
  return typesIn(parameters?.properties?.[argument]);
}

function typesIn(schema: unknown): readonly unknown[] {
  const { type, anyOf, oneOf } = (isJsonObject(schema) ? schema : {}) as Readonly<Record<string, unknown>>;
  const others = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.flatMap(typesIn) : []));
  return type === undefined ? others : [type].flat();
}

/**
 * A value that is JSON or a word of Python's (as Qwen3.5's template writes it), or a text: one of digits is a number only
 * where the function wants one.
 */
function argumentIn(text: string, types: readonly unknown[]): unknown {
  const wantsText = types.includes('string');
  if (wantsText && types.length === 1) return text;
  const value = WORDS.has(text) ? WORDS.get(text) : jsonOrText(text);
  return wantsText && !typesOf(value).some((type) => types.includes(type)) ? text : value;
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

function jsonOrText(text: string): unknown {
  try {
    return parseJsonExactly(text);
  } catch {
    return text;
  }
}

/** [TOOL_CALLS][{…}, …], or since 2025 [TOOL_CALLS]NAME[ARGS]{…} for each. */
function mistral(text: string): ToolCall[] {
  const parts = text.split('[TOOL_CALLS]').slice(1);
  return parts.flatMap((part) => {
    const named = /^\s*([\w.-]+)(?:\[CALL_ID\]([\w-]*))?(?:\[ARGS\])?\s*(\{[\s\S]*)$/.exec(part);
    if (named === null) return jsonCalls(part);
    const [, name = '', id, given = ''] = named;
    return [callOf(name, parseJsonExactly(given), id)];
  });
}

/** {…}; {…} as its parts (Llama 3 writes several so), without what stands between them. */
function objectsIn(text: string): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  // A brace in a string opens nothing, and one without an end reaches to that of the text: it isn't looked for again.
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.?)*"?|[{}]/gs)) {
    if (mark === '{') depth++;
    if (mark !== '}' || --depth !== 0) continue;
    parts.push(text.slice(from, index + 1).replace(/^[\s;]+/, ''));
    from = index + 1;
  }
  const rest = text.slice(from).trim();
  return rest === '' && parts.length > 0 ? parts : [...parts, rest];
}

function jsonCalls(text: string): ToolCall[] {
  const value = parseJsonExactly(text.trim());
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((one) => {
    const { name, arguments: given, parameters, id } = (one ?? {}) as Readonly<Record<string, unknown>>;
    return callOf(name, given ?? parameters ?? {}, id);
  });
}

/** `id`: as Mistral's models write it, who know the results by it. */
function callOf(name: unknown, given: unknown, id?: unknown): ToolCall {
  const value: unknown = typeof given === 'string' ? parseJsonExactly(given.trim() || '{}') : given;
  if (typeof name !== 'string' || name === '') throw new Error('a call without the name of a function');
  if (!isJsonObject(value)) throw new Error(`the arguments of ${name} are not a JSON object`);
  const own = typeof id === 'string' && /^[A-Za-z\d]{9}$/.test(id) && { id };
  return { type: 'function', function: { name, arguments: value }, ...own };
}
