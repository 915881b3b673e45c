/** A text that is saved while it is typed, with a draft that outlives the page. No React. */
import { observable } from './observable.ts';

/** Saved once typing pauses for this long. */
const PAUSE_MS = 700;

export interface KeptTextOptions {
  /** The key of the draft in the browser's storage. */
  readonly draftKey: string;
  /** What the host has. */
  readonly stored: string;
  readonly save: (text: string) => Promise<unknown>;
  readonly storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
}

export interface KeptText {
  readonly text: () => string;
  readonly subscribe: (listener: () => void) => () => void;
  readonly change: (text: string) => void;
  /** Saves what isn't saved yet, now; also what failed before. */
  readonly flush: () => void;
  /** Takes a text from the host; it never replaces one that isn't saved. */
  readonly follow: (stored: string) => void;
}

/** Starts with the draft if there is one: it is what the user typed last. */
export function keepText({ draftKey, stored, save, storage = localStorage }: KeptTextOptions): KeptText {
  let saved = stored;
  const { get, set: show, subscribe } = observable(readDraft(storage, draftKey) ?? stored);
  /** The text being sent. */
  let pending: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    const sent = get();
    if (sent === (pending ?? saved)) return;
    pending = sent;
    save(sent).then(
      () => {
        saved = sent;
        if (pending === sent) pending = null;
        if (get() === sent) writeDraft(storage, draftKey, null);
      },
      // Whoever saves shows the failure. The draft stays, and the next flush sends it again.
      () => {
        if (pending === sent) pending = null;
      },
    );
  }

  return {
    text: get,
    subscribe,
    change: (next) => {
      clearTimeout(timer);
      writeDraft(storage, draftKey, next === saved && pending === null ? null : next);
      timer = setTimeout(flush, PAUSE_MS);
      show(next);
    },
    flush,
    follow: (next) => {
      const isUnsaved = pending !== null || get() !== saved;
      saved = next;
      if (get() === next && pending === null) writeDraft(storage, draftKey, null);
      else if (!isUnsaved) show(next);
    },
  };
}

function readDraft(storage: Pick<Storage, 'getItem'>, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    // Storage may be denied, and the draft with it.
    return null;
  }
}

function writeDraft(storage: Pick<Storage, 'setItem' | 'removeItem'>, key: string, text: string | null): void {
  try {
    if (text === null) storage.removeItem(key);
    else storage.setItem(key, text);
  } catch {
    // Without storage, or over its quota, the text is still saved when typing pauses.
  }
}
