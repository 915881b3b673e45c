/** The palette and the list of all runs in it wait until the first screen stands. */
import { type ComponentType, useEffect, useState } from 'react';

/** At the latest, where the page is never idle. */
const LATEST_MS = 1000;

export function PaletteWhenIdle() {
  const [Palette, setPalette] = useState<ComponentType | null>(null);
  useEffect(() => {
    // Without its code there is no palette: the rail and the keys lead everywhere too.
    const load = (): Promise<void> =>
      import('./Palette.tsx').then(
        (code) => setPalette(() => code.Palette),
        () => undefined,
      );
    const asked = requestIdleCallback(() => void load(), { timeout: LATEST_MS });
    return () => cancelIdleCallback(asked);
  }, []);
  return Palette === null ? null : <Palette />;
}
