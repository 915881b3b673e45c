/** The palette, and the list of all runs that it loads, wait until the first screen is shown, or until Ctrl/Cmd-K. */
import { useWindowEvent } from '@mantine/hooks';
import { type ComponentType, useEffect, useState } from 'react';
import { latinKey } from './latin-key.ts';
import { palette } from './palette-store.ts';
import { isTaken } from './taken-keys.ts';

/** Upper bound, in case the page is never idle. */
const LATEST_MS = 1000;

export function PaletteWhenIdle() {
  const [Palette, setPalette] = useState<ComponentType | null>(null);
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    // If its code can't be loaded there is no palette; the rail and the shortcuts still work.
    const load = (): Promise<void> =>
      import('./Palette.tsx').then(
        (code) => setPalette(() => code.Palette),
        () => undefined,
      );
    if (isWanted) {
      void load();
      return;
    }
    const asked = requestIdleCallback(() => void load(), { timeout: LATEST_MS });
    return () => cancelIdleCallback(asked);
  }, [isWanted]);
  const open = (event: KeyboardEvent): void => {
    if (cutsLine(event)) return;
    event.preventDefault();
    if (Palette === null) setWanted(true);
    else palette.open();
  };
  // From text fields, too.
  useWindowEvent('keydown', (event) => {
    const { ctrlKey, metaKey, altKey, shiftKey } = event;
    if ((ctrlKey || metaKey) && !altKey && !shiftKey && latinKey(event) === 'k') open(event);
  });
  useEffect(() => {
    // It opens only once it is there: it takes the screen's actions when it sees itself open.
    if (Palette !== null && isWanted) palette.open();
  }, [Palette, isWanted]);
  return Palette === null ? null : <Palette />;
}

/** Ctrl-K in a text field on a Mac, where Cmd-K opens the palette. */
function cutsLine({ ctrlKey, target }: KeyboardEvent): boolean {
  return ctrlKey && navigator.platform.startsWith('Mac') && isTaken('k', target);
}
