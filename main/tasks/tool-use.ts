/** How the tools of a task were used in completions: a tool that is never called, or whose calls all fail, teaches nothing. */

import { isJsonObject } from '../io/json.ts';
import type { ChatMessage } from '../samples/chat-message.ts';
import { counted } from '../text/format.ts';

export interface ToolUse {
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
}

const FAILED = '{"error":';

/** Whether a result says that the call failed. */
export function isFailedCall({ role, content }: Pick<ChatMessage, 'role' | 'content'>): boolean {
  return role === 'tool' && content !== null && content.startsWith(FAILED);
}

/** What a call gave that another program marks as failed, as a failed call here is answered; no text is as it was. */
export function failedContent(given: unknown): unknown {
  const parts: readonly unknown[] = Array.isArray(given) ? given : [given];
  const texts = parts.map((part) => (isJsonObject(part) ? part.text : part));
  if (!texts.every((text) => typeof text === 'string')) return given;
  const error = texts.join('');
  return error.startsWith(FAILED) ? error : JSON.stringify({ error });
}

/** The use of each tool, and of names that are none. */
export function toolUse(names: readonly string[], conversations: readonly (readonly ChatMessage[])[]) {
  const results = conversations.flat().filter(({ role }) => role === 'tool');
  const tools = names.map((name): ToolUse => {
    const own = results.filter((result) => result.name === name);
    return { name, calls: own.length, failed: own.filter(isFailedCall).length };
  });
  const unknown = results.filter(({ name }) => name === undefined || !names.includes(name)).length;
  return { calls: results.length, tools, unknown };
}

/** What stands out in so many completions, a sentence each. */
export function toolFindings(names: readonly string[], conversations: readonly (readonly ChatMessage[])[]): string[] {
  const n = counted(conversations.length, 'completion');
  const { calls, tools, unknown } = toolUse(names, conversations);
  if (names.length === 0 || conversations.length === 0) return [];
  if (calls === 0) return [`No tool is called in ${n}.`];
  return [
    ...tools.filter((tool) => tool.calls === 0).map(({ name }) => `The tool ${name} is never called in ${n}.`),
    ...tools
      .filter((tool) => tool.calls > 0 && tool.failed === tool.calls)
      .map(
        (tool) => `${tool.calls === 1 ? 'The only call' : `All ${tool.calls} calls`} of the tool ${tool.name} failed.`,
      ),
    ...(2 * unknown > calls
      ? [`${unknown} of ${counted(calls, 'call')} can't be read or name no tool of the task.`]
      : []),
  ];
}
