/** The conversations that the user keeps: listed, opened, kept and updated, renamed, deleted. */
import { inputError } from '../../errors.ts';
import type { ConversationHeading } from '../../store/conversations.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type Conversation, readConversation, titleOf } from './conversation.ts';

export interface KeptConversation extends ConversationHeading {
  readonly conversation: Conversation;
}

type Place = Pick<OpenWorkspace, 'store' | 'changes'>;

/** The one that was spoken to last first. */
export function listConversations({ store }: Pick<Place, 'store'>): readonly ConversationHeading[] {
  return store.conversations.list();
}

/** One of them as it was kept. */
export function openConversation({ store }: Pick<Place, 'store'>, id: number): KeptConversation {
  const row = store.conversations.get(id);
  if (row === undefined) throw unknown(id);
  const { content, ...heading } = row;
  return { ...heading, conversation: readConversation(content, row.title) };
}

/** Keeps a conversation, by its id also as it has continued; returns the id. */
export function keepConversation({ store, changes }: Place, conversation: Conversation, id: number | null): number {
  const turns = conversation.turns.length;
  if (turns === 0) throw inputError('CONVERSATION_EMPTY', 'There is nothing to keep yet', 'Send a message first.');
  const kept = store.transaction(() => {
    if (id === null) return store.conversations.add({ title: titleOf(conversation), turns, content: conversation });
    if (!store.conversations.update(id, { turns, content: conversation })) throw unknown(id);
    return id;
  });
  changes.publish('conversations');
  return kept;
}

export function renameConversation({ store, changes }: Place, id: number, title: string): void {
  if (!store.transaction(() => store.conversations.rename(id, title))) throw unknown(id);
  changes.publish('conversations');
}

export function removeConversation({ store, changes }: Place, id: number): void {
  if (!store.transaction(() => store.conversations.remove(id))) throw unknown(id);
  changes.publish('conversations');
}

function unknown(id: number) {
  return inputError('CONVERSATION_UNKNOWN', `There is no conversation with id ${id}`, 'It may have been deleted.');
}
