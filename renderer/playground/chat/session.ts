/** The chat of this window in its session storage: a reload loses neither it nor an unsent message. Pure except for storage. */
import type { Conversation } from '../../../main/api/contract/index.ts';
import { type ChatState, freshState } from './chat-store.ts';
import { emptyChat, fromKept, toKept, usualSampling } from './conversation.ts';

const STORED = 'braid.chat';
const MESSAGE = 'braid.chat.message';

export function storeChat(storage: Pick<Storage, 'setItem'>, { chat, keptId }: ChatState): void {
  try {
    storage.setItem(STORED, JSON.stringify({ conversation: toKept(chat), keptId }));
  } catch {
    // It exceeds the storage quota, or storage is denied: it is in memory until the page is reloaded.
  }
}

/** What was stored; an empty chat if there is nothing, or nothing that can be read. */
export function storedChat(storage: Pick<Storage, 'getItem'>): ChatState {
  try {
    const { conversation, keptId } = JSON.parse(storage.getItem(STORED) ?? 'null') as {
      readonly conversation: Conversation;
      readonly keptId: number | null;
    };
    const { system, models, sampling } = conversation;
    const chat = fromKept({ ...conversation, sampling: { ...usualSampling, ...sampling } });
    if (typeof system !== 'string' || models.length === 0) return freshState();
    return freshState({ ...emptyChat, ...chat }, typeof keptId === 'number' ? keptId : null);
  } catch {
    return freshState();
  }
}

/** Keeps the message that is being written. */
export function storeMessage(storage: Pick<Storage, 'setItem'>, text: string): void {
  try {
    storage.setItem(MESSAGE, text);
  } catch {
    // As above: the field has it until the page is reloaded.
  }
}

/** The message that was being written; empty if there is none. */
export function storedMessage(storage: Pick<Storage, 'getItem'>): string {
  try {
    return storage.getItem(MESSAGE) ?? '';
  } catch {
    return '';
  }
}
