/**
 * Tools for models whose chat template has none: described in a system message as Hermes does it, whose form of calls most
 * models have seen; calls are words of the assistant, and results come back as a message of the user.
 */
import { isJsonObject } from '../io/json.ts';
import { type ChatMessage, type ChatTool, textOf } from '../samples/chat-message.ts';
import type { RenderedMessage } from './chat-template.ts';
import { concat, type Str } from './jinja/text.ts';

const BEFORE = 'You can call functions. Their JSON schemas are:\n<tools>\n';
const AFTER = `
</tools>
To call one, write a JSON object with its name and arguments:
<tool_call>
{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}
</tool_call>`;

/** The functions that may be called, and how. `quoted`: what becomes of a schema's words. */
export function describedTools(tools: readonly ChatTool[], quoted: (words: string) => Str = (words) => words): Str {
  const schemas = tools.flatMap((tool, i) => [...(i === 0 ? [] : ['\n']), quoted(JSON.stringify(tool))]);
  return concat([BEFORE, ...schemas, AFTER]);
}

/** The conversation with these words at the end of its system message. */
export function withSystem(messages: readonly RenderedMessage[], words: Str): readonly RenderedMessage[] {
  const [first, ...others] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...messages];
  return [{ ...first, content: concat([first.content ?? '', '\n\n', words]) }, ...others];
}

/** The same for a template that takes no system message: at the beginning of the first message. */
export function beforeFirst(messages: readonly RenderedMessage[], words: Str): readonly RenderedMessage[] {
  const [first, ...others] = messages;
  return first === undefined ? [] : [{ ...first, content: concat([words, '\n\n', first.content ?? '']) }, ...others];
}

/** A conversation whose calls are words, and whose results are messages of the user, one for those of a turn. */
export function callsInWords(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const said: ChatMessage[] = [];
  let results: string[] = [];
  const flush = (): void => {
    if (results.length > 0) said.push({ role: 'user', content: results.join('\n') });
    results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(`<tool_response>\n${textOf(message)}\n</tool_response>`);
      continue;
    }
    flush();
    const { tool_calls: calls, ...others } = message;
    said.push(
      calls === undefined
        ? message
        : { ...others, content: [textOf(message).trimEnd(), ...calls.map(callText)].filter(Boolean).join('\n') },
    );
  }
  flush();
  return said;
}

function callText({ function: { name, arguments: given } }: NonNullable<ChatMessage['tool_calls']>[number]): string {
  return `<tool_call>\n${spacedJson({ name, arguments: given })}\n</tool_call>`;
}

/** JSON as Python writes it and models have mostly seen it: with spaces. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${spacedJson(one)}`)
    .join(', ')}}`;
}
