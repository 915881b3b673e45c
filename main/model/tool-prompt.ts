/**
 * Tools for models whose chat template has none: described in a system message as Hermes does it, whose form of calls most
 * models have seen; results come back as a message of the user.
 */
import { type ChatMessage, type ChatTool, textOf } from '../samples/chat-message.ts';

/** The functions that may be called, and how. */
export function describedTools(tools: readonly ChatTool[]): string {
  return `You can call functions. Their JSON schemas are:
<tools>
${tools.map((tool) => JSON.stringify(tool)).join('\n')}
</tools>
To call one, write a JSON object with its name and arguments:
<tool_call>
{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}
</tool_call>`;
}

/** The conversation with these words at the end of its system message. */
export function withSystem(messages: readonly ChatMessage[], words: string): readonly ChatMessage[] {
  const [first, ...others] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...messages];
  return [{ ...first, content: `${textOf(first)}\n\n${words}` }, ...others];
}

/** Results of tools, one message of the user. */
export function asUserMessages(answers: readonly ChatMessage[]): readonly ChatMessage[] {
  const results = answers.filter(({ role }) => role === 'tool');
  if (results.length === 0) return answers;
  const content = results.map((result) => `<tool_response>\n${textOf(result)}\n</tool_response>`).join('\n');
  return [...answers.filter(({ role }) => role !== 'tool'), { role: 'user', content }];
}
