/**
 * The calls of tools in what a model wrote, in the forms of the families: Hermes and Qwen (`<tool_call>` with JSON),
 * Qwen3.5 and Qwen3-Coder (`<tool_call>` with `<function=…>`), SmolLM2 (a list in one tag), Mistral (`[TOOL_CALLS]`), and
 * Llama 3 (a turn that is one JSON object). Pure.
 */

import { isJsonObject } from '../io/json.ts';
import type { WrittenCall } from '../samples/chat-message.ts';

/** `json`: a turn that is a JSON object with a name is a call; in the other forms it is an answer. */
export type ToolCallForm = 'marked' | 'json';

export interface WrittenTurn {
  /** What stands before and between the calls. */
  readonly content: string;
  /** In the order in which they were written. */
  readonly calls: readonly WrittenCall[];
}

/** The form in which the model of a chat template calls tools. */
export function toolCallForm(template: string | null): ToolCallForm {
  const isMarked = template === null || /<tool_call>|\[TOOL_CALLS\]/.test(template);
  return isMarked ? 'marked' : 'json';
}

/** Splits a turn; `text` is with the control tokens that the model wrote, without its end token. */
export function readToolCalls(text: string, form: ToolCallForm): WrittenTurn {
  const mistral = text.indexOf('[TOOL_CALLS]');
  if (mistral >= 0) return { content: text.slice(0, mistral).trim(), calls: mistralCalls(text.slice(mistral)) };
  if (text.includes('<tool_call>')) return taggedCalls(text);
  const bare = text.replace('<|python_tag|>', '').trim();
  if (form === 'json' && looksLikeCall(bare)) return { content: '', calls: bare.split(/;\s*(?=\{)/).map(callOf) };
  return { content: text, calls: [] };
}

/** A turn that begins like a call was meant as one, even where its JSON is broken. */
function looksLikeCall(text: string): boolean {
  return /^\{\s*"(?:type|name|function|parameters)"\s*:/.test(text) && text.includes('"name"');
}

function taggedCalls(text: string): WrittenTurn {
  const outside: string[] = [];
  const calls: WrittenCall[] = [];
  let rest = text;
  for (let at = rest.indexOf('<tool_call>'); at >= 0; at = rest.indexOf('<tool_call>')) {
    outside.push(rest.slice(0, at));
    const inside = rest.slice(at + '<tool_call>'.length);
    const end = inside.indexOf('</tool_call>');
    if (end < 0) {
      calls.push({ fault: 'expected </tool_call> after the call, got none' });
      rest = '';
      break;
    }
    const body = inside.slice(0, end).trim();
    calls.push(...(body.startsWith('<function=') ? [functionCall(body)] : jsonCalls(body)));
    rest = inside.slice(end + '</tool_call>'.length);
  }
  return { content: [...outside, rest].join('').trim(), calls };
}

/** One call, or SmolLM2's list of them. */
function jsonCalls(body: string): readonly WrittenCall[] {
  const parsed = parse(body);
  return Array.isArray(parsed) ? parsed.map(callFrom) : [callOf(body)];
}

/** `<function=name>` with `<parameter=key>` for each argument; one that is JSON is its value, any other a text. */
function functionCall(body: string): WrittenCall {
  const [, name] = /^<function=([^>\s]+)>/.exec(body) ?? [];
  if (name === undefined || !body.endsWith('</function>')) return { fault: 'expected <function=NAME> … </function>' };
  const given = [...body.matchAll(/<parameter=([^>\s]+)>\n?([\s\S]*?)\n?<\/parameter>/g)].map(
    ([, key = '', value = '']) => {
      const parsed = parse(value);
      return [key, parsed === undefined ? value : parsed] as const;
    },
  );
  return { call: { type: 'function', function: { name, arguments: Object.fromEntries(given) } } };
}

/** A JSON list, or since its version 11 `[TOOL_CALLS]name[ARGS]{…}` for each call. */
function mistralCalls(text: string): readonly WrittenCall[] {
  return text
    .split('[TOOL_CALLS]')
    .slice(1)
    .flatMap((part) => {
      const [, name, given] = /^\s*([\w.-]+)(?:\[CALL_ID\]\w+)?\[ARGS\]([\s\S]*)$/.exec(part) ?? [];
      if (name !== undefined && given !== undefined) return [callFrom({ name, arguments: parse(given) ?? given })];
      return jsonCalls(part.trim());
    });
}

function callOf(text: string): WrittenCall {
  const parsed = parse(text);
  return parsed === undefined
    ? { fault: `expected a JSON object with "name" and "arguments", got ${shown(text)}` }
    : callFrom(parsed);
}

function callFrom(value: unknown): WrittenCall {
  if (!isJsonObject(value)) return { fault: `expected an object with "name" and "arguments", got ${shown(value)}` };
  const { name, id, function: inner } = value;
  // OpenAI's form: the function inside.
  if (isJsonObject(inner)) return callFrom({ ...inner, id });
  const called = typeof name === 'string' ? name : inner;
  if (typeof called !== 'string' || called === '') return { fault: 'expected the tool\'s "name", got none' };
  const given = value.arguments ?? value.parameters ?? {};
  const args = typeof given === 'string' ? parse(given) : given;
  if (!isJsonObject(args))
    return { fault: `expected the "arguments" of ${called} to be an object, got ${shown(given)}` };
  return {
    call: {
      ...(typeof id === 'string' && id !== '' && { id }),
      type: 'function',
      function: { name: called, arguments: args },
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}
