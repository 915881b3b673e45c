/** One turn of a conversation: the same in a prompt, a completion, a checkpoint, the history and on a screen. */
import { z } from 'zod';

export const chatRole = z.enum(['system', 'user', 'assistant']);

export const chatMessageSchema = z.object({ role: chatRole, content: z.string() });

export type ChatMessage = Readonly<z.infer<typeof chatMessageSchema>>;
