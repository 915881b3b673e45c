/** Where the window was, and where it may come back: on a screen that is still there. */
import type { BrowserWindow, Rectangle } from 'electron';
import type { Preferences, WindowPlace } from './preferences.ts';

export const FIRST_SIZE = { width: 1360, height: 860 };
/** So much of the window must be on a screen for a person to find and grab it. */
const GRAB = { width: 120, height: 60 };
/** A window that is being dragged moves many times a second. */
const SETTLED_MS = 400;

/** The remembered place, or only its size where its screen is gone, or the first size. */
export function placeToOpen(
  remembered: WindowPlace | undefined,
  screens: readonly Rectangle[],
): Partial<Rectangle> & typeof FIRST_SIZE {
  if (remembered === undefined) return FIRST_SIZE;
  const { x, y, width, height } = remembered;
  return screens.some((screen) => isOn(screen, remembered)) ? { x, y, width, height } : { width, height };
}

function isOn(screen: Rectangle, { x, y, width }: WindowPlace): boolean {
  const across = Math.min(x + width, screen.x + screen.width) - Math.max(x, screen.x);
  // The title bar is what is grabbed.
  return across >= GRAB.width && y >= screen.y && y + GRAB.height <= screen.y + screen.height;
}

/** Remembers the window's place as it changes. */
export function rememberPlace(window: BrowserWindow, preferences: Preferences): void {
  let timer: NodeJS.Timeout | null = null;
  const save = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (!window.isDestroyed())
      preferences.set('window', { ...window.getNormalBounds(), maximized: window.isMaximized() });
  };
  const soon = (): void => {
    timer ??= setTimeout(save, SETTLED_MS).unref();
    timer.refresh();
  };
  window.on('resize', soon);
  window.on('move', soon);
  window.on('close', save);
}
