/**
 * Tool calls in what a model wrote, as its family writes them: Hermes, Qwen and SmolLM in <tool_call> tags (Qwen3-Coder
 * with tags inside), Mistral after [TOOL_CALLS], Llama 3 as JSON alone. Pure.
 */
import type { ToolCall } from '../../samples/chat-message.ts';

export interface ToolTurn {
  /** The words beside the calls. */
  readonly content: string;
  readonly calls: readonly ToolCall[];
  /** What looks like calls and can't be read, which stays in the content; null: nothing. */
  readonly problem: string | null;
}

/** How calls begin, where control tokens are kept in the text. */
export const CALL_MARKS = ['<tool_call>', '[TOOL_CALLS]', '<|python_tag|>'] as const;

/** Reads a turn. `names`: the functions that may be called; JSON alone counts as a call of one of them only. */
export function readToolCalls(text: string, names: readonly string[]): ToolTurn {
  const at = callStart(text);
  const plain: ToolTurn = { content: text, calls: [], problem: null };
  if (at === null) return plain;
  const [before, rest] = [text.slice(0, at), text.slice(at)];
  try {
    const calls = callsIn(rest);
    if (calls === null || (isBareJson(rest) && !calls.every(({ function: { name } }) => names.includes(name))))
      return plain;
    return { content: before.trim(), calls, problem: null };
  } catch (error) {
    return isBareJson(rest) ? plain : { ...plain, problem: (error as Error).message };
  }
}

/** Where calls begin, or may begin in what is still being written; null: nowhere. */
export function callStart(text: string): number | null {
  const marks = CALL_MARKS.map((mark) => text.indexOf(mark)).filter((at) => at >= 0);
  if (marks.length > 0) return Math.min(...marks);
  const bare = /^\s*\{/.exec(text);
  return bare === null ? null : 0;
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

function callsIn(text: string): ToolCall[] | null {
  if (text.startsWith('<tool_call>')) return tagged(text);
  if (text.startsWith('[TOOL_CALLS]')) return mistral(text);
  return llama(text.replace(/^<\|python_tag\|>/, ''));
}

/** <tool_call>{…}</tool_call>, also several, or a list in one (SmolLM2); the last may lack its end. */
function tagged(text: string): ToolCall[] {
  const parts = text.split('<tool_call>').slice(1);
  return parts.flatMap((part) => {
    const [inside = ''] = part.split('</tool_call>');
    return inside.trimStart().startsWith('<function=') ? [xmlCall(inside)] : jsonCalls(inside);
  });
}

/** <function=NAME><parameter=KEY>VALUE</parameter> … </function> */
function xmlCall(text: string): ToolCall {
  const name = /<function=([^>\n]+)>/.exec(text)?.[1]?.trim() ?? '';
  const given = [...text.matchAll(/<parameter=([^>\n]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
  return callOf(name, Object.fromEntries(given.map(([, key = '', value = '']) => [key.trim(), jsonOrText(value)])));
}

/** A value that is JSON, or a text. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** [TOOL_CALLS][{…}, …], or since 2025 [TOOL_CALLS]NAME[ARGS]{…} for each. */
function mistral(text: string): ToolCall[] {
  const parts = text.split('[TOOL_CALLS]').slice(1);
  return parts.flatMap((part) => {
    const named = /^\s*([\w.-]+)(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*(\{[\s\S]*)$/.exec(part);
    if (named === null) return jsonCalls(part);
    const [, name = '', given = ''] = named;
    return [callOf(name, JSON.parse(given))];
  });
}

/** {"name": …, "parameters": {…}}, several after semicolons. */
function llama(text: string): ToolCall[] | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return null;
  try {
    return jsonCalls(trimmed);
  } catch {
    return trimmed.split(/;\s*(?=\{)/).flatMap(jsonCalls);
  }
}

function jsonCalls(text: string): ToolCall[] {
  const value: unknown = JSON.parse(text.trim());
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((one) => {
    const { name, arguments: given, parameters } = (one ?? {}) as Readonly<Record<string, unknown>>;
    return callOf(name, given ?? parameters ?? {});
  });
}

function callOf(name: unknown, given: unknown): ToolCall {
  const value: unknown = typeof given === 'string' ? JSON.parse(given) : given;
  if (typeof name !== 'string' || name === '') throw new Error('a call without the name of a function');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`the arguments of ${name} are not a JSON object`);
  return { type: 'function', function: { name, arguments: value as Readonly<Record<string, unknown>> } };
}
