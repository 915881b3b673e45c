/** A text field that saves itself: when typing pauses, on blur, and when its page is left in any way. */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { type KeptTextOptions, keepText } from './kept-text.ts';

export interface KeptTextField {
  readonly text: string;
  readonly change: (text: string) => void;
  readonly flush: () => void;
}

/** The draft belongs to the first `draftKey`: give the component a key where that changes. */
export function useKeptText({ draftKey, stored, save }: Omit<KeptTextOptions, 'storage'>): KeptTextField {
  const latest = useRef(save);
  latest.current = save;
  const [kept] = useState(() => keepText({ draftKey, stored, save: (text) => latest.current(text) }));
  const text = useSyncExternalStore(kept.subscribe, kept.text);
  useEffect(() => kept.follow(stored), [kept, stored]);
  useEffect(() => {
    window.addEventListener('pagehide', kept.flush);
    return () => {
      window.removeEventListener('pagehide', kept.flush);
      kept.flush();
    };
  }, [kept]);
  return { text, change: kept.change, flush: kept.flush };
}
