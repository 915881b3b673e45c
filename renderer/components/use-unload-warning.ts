import { useEffect, useRef } from 'react';

/** In a browser, a tab that is closed with unsaved entries asks first. Electron would stay open without a word. */
export function useUnloadWarning(isChanged: () => boolean): void {
  const latest = useRef(isChanged);
  latest.current = isChanged;
  useEffect(() => {
    if (!window.location.protocol.startsWith('http')) return;
    const warn = (event: BeforeUnloadEvent): void => {
      if (latest.current()) event.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, []);
}
