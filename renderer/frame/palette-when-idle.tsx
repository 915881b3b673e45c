/** The palette, and the list of all runs that it loads, wait until the first screen is shown. */
import { type ComponentType, useEffect, useState } from 'react';

/** Upper bound, in case the page is never idle. */
const LATEST_MS = 1000;

export function PaletteWhenIdle() {
  const [Palette, setPalette] = useState<ComponentType | null>(null);
  useEffect(() => {
    // If its code can't be loaded there is no palette; the rail and the shortcuts still work.
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
