/**
 * Tool calls in what a model wrote, as its family writes them: Hermes, Qwen and SmolLM in <tool_call> tags (Qwen3-Coder
 * with tags inside), Mistral after [TOOL_CALLS], Llama 3 as JSON alone. Pure.
 */
import { isJsonObject, parseJson } from '../../io/json.ts';
import { type ChatTool, type ToolCall, toolName } from '../../samples/chat-message.ts';

export interface ToolTurn {
  /** The words beside the calls. */
  readonly content: string;
  readonly calls: readonly ToolCall[];
  /** What looks like calls and can't be read, which stays in the content; null: nothing. */
  readonly problem: string | null;
}

/** How calls begin, where control tokens are kept in the text. */
export const CALL_MARKS = ['<tool_call>', '[TOOL_CALLS]', '<|python_tag|>'] as const;
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
  if (text.startsWith('<tool_call>')) return tagged(text, tools);
  if (text.startsWith('[TOOL_CALLS]')) return mistral(text);
  return objectsIn(text.replace(/^<\|python_tag\|>/, '')).flatMap(jsonCalls);
}

/** <tool_call>{…}</tool_call>, also several, or a list in one (SmolLM2); the last may lack its end. */
function tagged(text: string, tools: readonly ChatTool[]): ToolCall[] {
  const parts = text.split('<tool_call>').slice(1);
  return parts.flatMap((part) => {
    const [inside = ''] = part.split('</tool_call>');
    return inside.trimStart().startsWith('<function=') ? xmlCalls(inside, tools) : jsonCalls(inside);
  });
}

const XML_CALL = /<function=([^>\n]*)>([\s\S]*?)(?:<\/function>|$)/g;
const XML_ARGUMENT = /<parameter=([^>\n]+)>\n?([\s\S]*?)\n?(?:<\/parameter>|(?=<parameter=)|$)/g;

/** <function=NAME><parameter=KEY>VALUE</parameter> … </function> */
function xmlCalls(text: string, tools: readonly ChatTool[]): ToolCall[] {
  return Array.from(text.matchAll(XML_CALL), ([, name = '', inside = '']) => {
    const given = Array.from(inside.matchAll(XML_ARGUMENT), ([, key = '', value = '']) => {
      // A text of digits is a number only where the function wants one.
      const isText = argumentType(tools, name.trim(), key.trim()) === 'string';
      return [key.trim(), isText ? value : jsonOrText(value)];
    });
    return callOf(name.trim(), Object.fromEntries(given));
  });
}

function argumentType(tools: readonly ChatTool[], name: string, argument: string): unknown {
  const tool = tools.find((one) => toolName(one) === name);
  const { parameters } = (tool?.function ?? tool ?? {}) as {
    readonly parameters?: { readonly properties?: Readonly<Record<string, { readonly type?: unknown } | undefined>> };
  };
  return parameters?.properties?.[argument]?.type;
}

/** A value that is JSON, or a text. */
function jsonOrText(text: string): unknown {
  try {
    return parseJson(text);
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
    return [callOf(name, parseJson(given), id)];
  });
}

/** {…}; {…} as its parts (Llama 3 writes several so), without what stands between them. */
function objectsIn(text: string): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  // A brace in a string opens nothing.
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (mark === '{') depth++;
    if (mark !== '}' || --depth !== 0) continue;
    parts.push(text.slice(from, index + 1).replace(/^[\s;]+/, ''));
    from = index + 1;
  }
  const rest = text.slice(from).trim();
  return rest === '' && parts.length > 0 ? parts : [...parts, rest];
}

function jsonCalls(text: string): ToolCall[] {
  const value = parseJson(text.trim());
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((one) => {
    const { name, arguments: given, parameters, id } = (one ?? {}) as Readonly<Record<string, unknown>>;
    return callOf(name, given ?? parameters ?? {}, id);
  });
}

/** `id`: as Mistral's models write it, who know the results by it. */
function callOf(name: unknown, given: unknown, id?: unknown): ToolCall {
  const value: unknown = typeof given === 'string' ? parseJson(given) : given;
  if (typeof name !== 'string' || name === '') throw new Error('a call without the name of a function');
  if (!isJsonObject(value)) throw new Error(`the arguments of ${name} are not a JSON object`);
  const own = typeof id === 'string' && /^[A-Za-z\d]{9}$/.test(id) && { id };
  return { type: 'function', function: { name, arguments: value }, ...own };
}
