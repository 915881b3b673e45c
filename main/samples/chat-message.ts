/**
 * One turn of a conversation: the same in a record, a prompt, a completion, a checkpoint, the history and on a screen.
 * Its form is the one that chat templates read (transformers): arguments of tool calls are objects, not JSON in a text.
 */
import { z } from 'zod';

export const chatRole = z.enum(['system', 'user', 'assistant', 'tool']);

export type ChatRole = z.infer<typeof chatRole>;

/** A function that the assistant wants to have called. */
export const toolCallSchema = z
  .object({
    id: z.string().exactOptional(),
    type: z.literal('function'),
    function: z.object({ name: z.string().min(1), arguments: z.record(z.string(), z.unknown()).readonly() }).readonly(),
  })
  .readonly();

export type ToolCall = z.infer<typeof toolCallSchema>;

export const chatMessageSchema = z.object({
  role: chatRole,
  /** Null: the assistant only called tools. */
  content: z.string().nullable(),
  /** Of the assistant. */
  tool_calls: z.array(toolCallSchema).min(1).readonly().exactOptional(),
  /** Of a tool: the call that it answers. */
  tool_call_id: z.string().exactOptional(),
  /** Of a tool its name; of others who speaks. */
  name: z.string().exactOptional(),
});

export type ChatMessage = Readonly<z.infer<typeof chatMessageSchema>>;

/** A function that the model may call, as its JSON schema; the order of keys is what a template prints. */
export type ChatTool = Readonly<Record<string, unknown>>;

/** The words of a message; empty where it only calls tools. */
export function textOf({ content }: Pick<ChatMessage, 'content'>): string {
  return content ?? '';
}

/** The words of a message with its tool calls, one a line, for people and for models without a chat template. */
export function shownText({ content, tool_calls: calls = [] }: Pick<ChatMessage, 'content' | 'tool_calls'>): string {
  const called = calls.map(({ function: { name, arguments: given } }) => `${name}(${JSON.stringify(given)})`);
  return [...(content === null || content === '' ? [] : [content]), ...called].join('\n');
}
