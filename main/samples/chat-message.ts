/**
 * One turn of a conversation: the same in a record, a prompt, a completion, a checkpoint, the history and on a screen.
 * Its form is the one that chat templates read (transformers): arguments of tool calls are objects, not JSON in a text.
 */
import { z } from 'zod';

export const chatRole = z.enum(['system', 'user', 'assistant', 'tool']);

export type ChatRole = z.infer<typeof chatRole>;

/** A function that the assistant wants to have called. */
const toolCallSchema = z
  .object({
    id: z.string().exactOptional(),
    type: z.literal('function'),
    function: z.object({ name: z.string().min(1), arguments: z.record(z.string(), z.unknown()).readonly() }).readonly(),
  })
  .readonly();

export type ToolCall = z.infer<typeof toolCallSchema>;

/** A call that a model wrote, or what is wrong with what should be one. */
export type WrittenCall = { readonly call: ToolCall } | { readonly fault: string };

/** What the environment made of a turn. */
const outcomeSchema = z.object({
  /** By component. */
  rewards: z.record(z.string(), z.number()).exactOptional(),
  /** Whether it ended the conversation there. */
  done: z.boolean(),
});

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
  /** What the assistant thought before it spoke, where a template has a place for it. */
  reasoning_content: z.string().exactOptional(),
  /** Of the assistant: 0 where a record has the turn to be read and not trained on, as in OpenAI's files. */
  weight: z.literal(0).exactOptional(),
  /** Of the assistant, in a completion of several turns that is shown; rewards and templates don't see it. */
  outcome: outcomeSchema.exactOptional(),
});

export type ChatMessage = Readonly<z.infer<typeof chatMessageSchema>>;

/** Messages as a reward or a template is given them. */
export function withoutOutcomes(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.map(({ outcome: _, ...message }) => message);
}

/** A function that the model may call, as its JSON schema; the order of keys is what a template prints. */
export type ChatTool = Readonly<Record<string, unknown>>;

/** The name of a tool in OpenAI's form, or of a bare function. */
export function toolName({ function: inner, name }: ChatTool): string {
  const own = (inner as { readonly name?: unknown } | undefined)?.name ?? name;
  return typeof own === 'string' ? own : '';
}

/** The words of a message; empty where it only calls tools. */
export function textOf({ content }: Pick<ChatMessage, 'content'>): string {
  return content ?? '';
}

/** The words of a message with its tool calls, one a line, for people and for models without a chat template. */
export function shownText({ content, tool_calls: calls = [] }: Pick<ChatMessage, 'content' | 'tool_calls'>): string {
  const called = calls.map(({ function: { name, arguments: given } }) => `${name}(${JSON.stringify(given)})`);
  return [...(content === null || content === '' ? [] : [content]), ...called].join('\n');
}

/** What a conversation asks: all of it but the assistant's last turn, if it ends with one. */
export function askedOf(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return answerOf(messages) === null ? messages : messages.slice(0, -1);
}

/** A conversation with this system message in place of its own; null: as it is. */
export function underSystem<Message extends { readonly role: ChatRole }>(
  messages: readonly Message[],
  system: string | null,
) {
  if (system === null) return messages;
  return [{ role: 'system' as const, content: system }, ...messages.filter(({ role }) => role !== 'system')];
}

/** Whether supervised steps may train a turn. */
export function isTrained({ role, weight }: Pick<ChatMessage, 'role' | 'weight'>): boolean {
  return role === 'assistant' && weight !== 0;
}

/** The assistant's turn that a conversation ends with; null: it ends with somebody else's. */
export function answerOf(messages: readonly ChatMessage[]): ChatMessage | null {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? last : null;
}

const SPEAKERS: Readonly<Record<ChatRole, string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

/**
 * What is asked as plain lines, for models without a chat template: one message of the user as it is, otherwise who
 * speaks before each, and in the end the assistant, who is to continue.
 */
export function plainLines(asked: readonly ChatMessage[]): string {
  const [first, second] = asked;
  if (first?.role === 'user' && second === undefined) return shownText(first);
  return [turnLines(asked), 'Assistant:'].join('\n\n');
}

/** Turns with who speaks before each. */
export function turnLines(messages: readonly ChatMessage[]): string {
  return messages.map((message) => `${SPEAKERS[message.role]}: ${shownText(message)}`).join('\n\n');
}
