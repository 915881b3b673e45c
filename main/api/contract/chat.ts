/** Chats of the playground: one model's answer as it is generated, and the conversations that the user keeps. */
import { eventIterator, type } from '@orpc/contract';
import { z } from 'zod';
import type { AddedRecord, RecordTarget } from '../../services/chat/add-record.ts';
import { conversationSchema, samplingSchema } from '../../services/chat/conversation.ts';
import type { KeptConversation } from '../../services/chat/kept.ts';
import type { ChatNews } from '../../services/chat/news.ts';
import type { ConversationHeading } from '../../store/conversations.ts';
import { id, line, list, procedure } from './base.ts';

const model = z.string().min(1).max(4096);
const one = z.object({ id });
const said = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string().max(1_000_000) });
const messages = list(said, { min: 1, max: 2100 });

export const chat = {
  /** One model's answer to the messages; ending the stream cancels it. The model stays loaded for a while. */
  ask: procedure
    .input(
      z.object({
        model,
        /** Those that are asked the same at the same time. */
        beside: list(model, { max: 3 }).default([]),
        messages,
        sampling: samplingSchema,
      }),
    )
    .output(eventIterator(type<ChatNews>())),
  /** Kept conversations, the one that was spoken to last first. */
  list: procedure.output(type<readonly ConversationHeading[]>()),
  open: procedure.input(one).output(type<KeptConversation>()),
  /** Keeps a conversation; with its id, as it has continued. */
  keep: procedure.input(z.object({ id: id.nullable(), conversation: conversationSchema })).output(z.object({ id })),
  rename: procedure.input(one.extend({ title: line })),
  remove: procedure.input(one),
  /** The tasks whose records are conversations, with their datasets. */
  recordTargets: procedure.output(type<readonly RecordTarget[]>()),
  /** Makes messages a record; the assistant's last turn, where they end with one, is its target. */
  addRecord: procedure
    .input(
      z.object({
        task: z.string().min(1).max(64),
        dataset: z.union([z.object({ id }), z.object({ name: z.string().trim().min(1).max(60) })]),
        side: z.enum(['train', 'test']),
        messages,
      }),
    )
    .output(type<AddedRecord>()),
};
