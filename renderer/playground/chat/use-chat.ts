/** The one chat of this window, and its state. */
import { useSyncExternalStore } from 'react';
import { client } from '../../api/client.ts';
import { type ChatState, type ChatStore, openChatStore } from './chat-store.ts';
import { storeChat, storedChat } from './session.ts';

let opened: ChatStore | null = null;
let names: ReadonlyMap<string, string> = new Map();

export function useChat(): readonly [ChatState, ChatStore] {
  opened ??= openChatStore(
    {
      ask: (input, signal) => client.chat.ask(input, { signal }),
      keep: client.chat.keep,
      nameOf: (ref) => names.get(ref) ?? ref,
      beforePaint: (work) => requestAnimationFrame(work),
      onChange: (state) => storeChat(sessionStorage, state),
    },
    storedChat(sessionStorage),
  );
  return [useSyncExternalStore(opened.subscribe, opened.get), opened];
}

/** What models are called, by reference: answers say who wrote them. */
export function nameModels(known: ReadonlyMap<string, string>): void {
  names = known;
}

/** The message that is being written: it stays while another screen is shown. */
export const draft = { text: '' };
