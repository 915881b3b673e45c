/** The one chat of this window, and its state. */
import { useSyncExternalStore } from 'react';
import { client } from '../../api/client.ts';
import { type ChatState, type ChatStore, openChatStore } from './chat-store.ts';
import { storeChat, storedChat } from './session.ts';

let opened: ChatStore | null = null;
let names: ReadonlyMap<string, string> = new Map();

export function useChat(): readonly [ChatState, ChatStore] {
  opened ??= openChat();
  return [useSyncExternalStore(opened.subscribe, opened.get), opened];
}

function openChat(): ChatStore {
  const store = openChatStore(
    {
      ask: (input, signal) => client.chat.ask(input, { signal }),
      keep: client.chat.keep,
      nameOf: (ref) => names.get(ref) ?? ref,
      beforePaint: (work) => requestAnimationFrame(work),
      onChange: (state) => storeChat(sessionStorage, state),
    },
    storedChat(sessionStorage),
  );
  // With what has come of the answers that a reload ends.
  window.addEventListener('pagehide', () => storeChat(sessionStorage, store.get()));
  return store;
}

/** What models are called, by reference: answers say who wrote them. */
export function nameModels(known: ReadonlyMap<string, string>): void {
  names = known;
}
